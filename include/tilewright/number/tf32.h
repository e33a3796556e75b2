// tf32: a float32 of which the tensor cores read the upper 19 bits.
#pragma once

#include <cstdint>

#include "tilewright/number/codec.h"

namespace tw {

// Unlike the other narrow types it keeps its code in the upper bits, so that a float32 in memory can
// be read as Tf32: the unread bits then count as zero. Conversions leave the unread bits zero.
struct Tf32 {
  static constexpr const char* name = "tf32";
  static constexpr FloatFormat format = tf32_format;
  static constexpr Overflow default_overflow = Overflow::infinity_or_nan;
  static constexpr int unread_bits = 32 - tf32_format.bits();

  std::uint32_t bits;

  Tf32() = default;
  constexpr explicit Tf32(float value)
      : bits(encode<tf32_format>(value, default_overflow) << unread_bits) {}
  constexpr explicit operator float() const { return decode<tf32_format>(bits >> unread_bits); }

  static constexpr Tf32 from_bits(std::uint32_t bits) {
    Tf32 result;
    result.bits = bits;
    return result;
  }

  static constexpr Tf32 from_float(float value, Overflow overflow = default_overflow,
                                   Rounding rounding = Rounding::nearest_even) {
    return from_bits(encode<tf32_format>(value, overflow, rounding) << unread_bits);
  }
};

}  // namespace tw
