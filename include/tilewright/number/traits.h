// What generic code may ask of an element type, whether it is one of ours or of the language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tilewright/number/narrow_float.h"
#include "tilewright/number/ue8m0.h"

namespace tw {

// bits: the width of one element of a packed tensor in memory (tf32 32, e4m3 8, e3m2 6, e2m1 4).
template <class T>
struct NumberTraits;

template <class T>
concept NarrowNumber = std::is_same_v<std::remove_cv_t<decltype(T::format)>, FloatFormat>;

template <NarrowNumber T>
struct NumberTraits<T> {
  static constexpr FloatFormat format = T::format;
  static constexpr const char* name = T::name;
  static constexpr int bits = format.bits() < 7 ? format.bits() : 8 * static_cast<int>(sizeof(T));
  static constexpr bool is_integer = false;
  static constexpr float max_finite = decode<format>(format.max_code());
  static constexpr float min_normal = decode<format>(1u << format.mantissa_bits);
  static constexpr float min_positive = decode<format>(1);
};

template <>
struct NumberTraits<Ue8m0> {
  static constexpr const char* name = Ue8m0::name;
  static constexpr int bits = 8;
  static constexpr bool is_integer = false;
  static constexpr float max_finite = 0x1p127f;
  static constexpr float min_normal = 0x1p-127f;
  static constexpr float min_positive = 0x1p-127f;
};

template <>
struct NumberTraits<float> {
  static constexpr FloatFormat format = float32_format;
  static constexpr const char* name = "fp32";
  static constexpr int bits = 32;
  static constexpr bool is_integer = false;
  static constexpr float max_finite = std::numeric_limits<float>::max();
  static constexpr float min_normal = std::numeric_limits<float>::min();
  static constexpr float min_positive = std::numeric_limits<float>::denorm_min();
};

template <>
struct NumberTraits<std::int8_t> {
  static constexpr const char* name = "int8";
  static constexpr int bits = 8;
  static constexpr bool is_integer = true;
  static constexpr std::int8_t max_finite = std::numeric_limits<std::int8_t>::max();
};

template <>
struct NumberTraits<std::int32_t> {
  static constexpr const char* name = "int32";
  static constexpr int bits = 32;
  static constexpr bool is_integer = true;
  static constexpr std::int32_t max_finite = std::numeric_limits<std::int32_t>::max();
};

template <class T>
concept Number = requires {
  NumberTraits<T>::bits;
};

template <Number T>
inline constexpr int bits_of = NumberTraits<T>::bits;

// Several elements share a byte when they are packed.
template <Number T>
inline constexpr bool is_subbyte = bits_of<T> < 8;

// What `count` packed elements take.
template <Number T>
constexpr std::size_t packed_bytes(std::size_t count) {
  return (count * bits_of<T> + 7) / 8;
}

}  // namespace tw
