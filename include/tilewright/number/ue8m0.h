// ue8m0: a power of two, 2^(bits - 127). It is the block scale of MX, and no FloatFormat: it has no
// zero, no sign, no mantissa, and its smallest number is subnormal in float32.
#pragma once

#include <bit>
#include <cstdint>

#include "tilewright/number/narrow_float.h"

namespace tw {

// Conversions act on the magnitude, as those of CUDA's headers do; zero becomes 2^-127.
struct Ue8m0 {
  static constexpr const char* name = "ue8m0";
  static constexpr std::uint8_t nan_code = 0xff;
  static constexpr std::uint8_t max_code = 0xfe;
  static constexpr int bias = 127;

  std::uint8_t bits;

  Ue8m0() = default;
  // Upwards, as the constructor of CUDA's own type: what is divided by a scale must not grow.
  constexpr explicit Ue8m0(float value) : Ue8m0(round_up(value)) {}

  constexpr explicit operator float() const {
    if (bits == nan_code) return std::bit_cast<float>(float32::canonical_nan);
    return std::bit_cast<float>(bits == 0 ? smallest
                                          : std::uint32_t{bits} << float32::mantissa_bits);
  }

  static constexpr Ue8m0 from_bits(std::uint8_t bits) {
    Ue8m0 result;
    result.bits = bits;
    return result;
  }

  // 2^exponent, or the nearest power of two that there is.
  static constexpr Ue8m0 from_exponent(int exponent) {
    const int code = exponent + bias;
    return from_bits(static_cast<std::uint8_t>(code < 0 ? 0 : code > max_code ? max_code : code));
  }

  // PTX's .rz: the largest power of two that is not above the value.
  static constexpr Ue8m0 round_down(float value, Overflow overflow = Overflow::saturate) {
    return from_rounded(float32::magnitude(value) >> float32::mantissa_bits, value, overflow);
  }

  // PTX's .rp: the smallest power of two that is not below the value.
  static constexpr Ue8m0 round_up(float value, Overflow overflow = Overflow::saturate) {
    const std::uint32_t magnitude = float32::magnitude(value);
    const std::uint32_t code =
        magnitude <= smallest
            ? 0
            : shift_right_rounded(magnitude, float32::mantissa_bits, Rounding::away_from_zero);
    return from_rounded(code, value, overflow);
  }

  constexpr bool is_nan() const { return bits == nan_code; }

  // 1 / scale, exactly; of NaN, NaN.
  constexpr Ue8m0 inverse() const {
    return is_nan() ? *this : from_bits(static_cast<std::uint8_t>(max_code - bits));
  }

 private:
  static constexpr std::uint32_t smallest = 1u << (float32::mantissa_bits - 1);  // 2^-127

  static constexpr Ue8m0 from_rounded(std::uint32_t code, float value, Overflow overflow) {
    if (float32::is_nan(value)) return from_bits(nan_code);
    if (code > max_code) code = overflow == Overflow::saturate ? max_code : nan_code;
    return from_bits(static_cast<std::uint8_t>(code));
  }
};

}  // namespace tw
