// Element types as values: what a problem or a configuration names at run time.
#pragma once

#include <cstdint>

#include "tilewright/number/narrow_float.h"

namespace tw {

enum class ElementType : unsigned { Bf16, Fp16, Fp32, Tf32, E4m3, E5m2, S8, S32, E2m1, E2m3, E3m2 };

// What an element takes that stands alone. Those of fewer than 8 bits share bytes when packed.
constexpr unsigned bytes_of(ElementType type) {
  switch (type) {
    case ElementType::Bf16:
    case ElementType::Fp16: return 2;
    case ElementType::Fp32:
    case ElementType::Tf32:
    case ElementType::S32: return 4;
    default: return 1;
  }
}

constexpr unsigned bits_in(ElementType type) {
  switch (type) {
    case ElementType::E2m1: return 4;
    case ElementType::E2m3:
    case ElementType::E3m2: return 6;
    default: return 8 * bytes_of(type);
  }
}

constexpr bool is_integer(ElementType type) {
  return type == ElementType::S8 || type == ElementType::S32;
}

// The name on the command line: "bf16".
constexpr const char* name_of(ElementType type) {
  switch (type) {
    case ElementType::Bf16: return "bf16";
    case ElementType::Fp16: return "fp16";
    case ElementType::Fp32: return "fp32";
    case ElementType::Tf32: return "tf32";
    case ElementType::E4m3: return "e4m3";
    case ElementType::E5m2: return "e5m2";
    case ElementType::S8: return "s8";
    case ElementType::E2m1: return "e2m1";
    case ElementType::E2m3: return "e2m3";
    case ElementType::E3m2: return "e3m2";
    default: return "s32";
  }
}

// The C++ type of an element in memory.
template <ElementType type>
struct ElementOf;
template <>
struct ElementOf<ElementType::Bf16> {
  using Type = Bf16;
};
template <>
struct ElementOf<ElementType::Fp16> {
  using Type = Fp16;
};
template <>
struct ElementOf<ElementType::Fp32> {
  using Type = float;
};
template <>
struct ElementOf<ElementType::Tf32> {
  using Type = Tf32;
};
template <>
struct ElementOf<ElementType::E4m3> {
  using Type = E4m3;
};
template <>
struct ElementOf<ElementType::E5m2> {
  using Type = E5m2;
};
template <>
struct ElementOf<ElementType::S8> {
  using Type = std::int8_t;
};
template <>
struct ElementOf<ElementType::S32> {
  using Type = std::int32_t;
};
template <>
struct ElementOf<ElementType::E2m1> {
  using Type = E2m1;
};
template <>
struct ElementOf<ElementType::E2m3> {
  using Type = E2m3;
};
template <>
struct ElementOf<ElementType::E3m2> {
  using Type = E3m2;
};
template <ElementType type>
using Element = typename ElementOf<type>::Type;

// What sums of products of this type are held in.
constexpr ElementType sum_type(ElementType operand) {
  return is_integer(operand) ? ElementType::S32 : ElementType::Fp32;
}

}  // namespace tw
