// Element types as values: what a problem or a configuration names at run time.
#pragma once

#include <cstdint>
#include <tuple>

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

// The C++ type of an element in memory, in the order of ElementType.
template <ElementType type>
using Element = std::tuple_element_t<
    static_cast<unsigned>(type),
    std::tuple<Bf16, Fp16, float, Tf32, E4m3, E5m2, std::int8_t, std::int32_t, E2m1, E2m3, E3m2>>;

// What sums of products of this type are held in.
constexpr ElementType sum_type(ElementType operand) {
  return is_integer(operand) ? ElementType::S32 : ElementType::Fp32;
}

}  // namespace tw
