// Narrow floating-point types share this: their code, and conversions from and to float.
#pragma once

#include <bit>
#include <cstdint>

#include "tilewright/number/format.h"

namespace tw {

// float32 to the code of any FloatFormat and back, on the bit pattern: integer arithmetic, and one
// subtraction of normal numbers that is exact. So the result is the same on every compiler and
// device, also where subnormals are flushed.

// Acts on the magnitude; on a number without sign, away_from_zero is PTX's .rp.
enum class Rounding { nearest_even, toward_zero, away_from_zero };

// An Overflow says how infinity, and a finite value beyond the largest number, are converted.
enum class Overflow {
  saturate,         // PTX's .satfinite
  infinity_or_nan,  // infinity, or NaN where there is no infinity; saturates where there is neither
};

namespace float32 {

inline constexpr std::uint32_t sign_mask = 0x8000'0000;
inline constexpr std::uint32_t infinity = 0x7f80'0000;
inline constexpr std::uint32_t canonical_nan = 0x7fff'ffff;
inline constexpr int mantissa_bits = 23;
inline constexpr int bias = 127;

// Ordered like the absolute values, with infinity above all numbers and NaN above infinity.
constexpr std::uint32_t magnitude(float value) {
  return std::bit_cast<std::uint32_t>(value) & ~sign_mask;
}
constexpr bool is_nan(float value) { return magnitude(value) > infinity; }

}  // namespace float32

// value / 2^shift as an integer. The shift is at least 1.
constexpr std::uint32_t shift_right_rounded(std::uint32_t value, int shift, Rounding rounding) {
  const std::uint32_t below = (1u << shift) - 1;
  switch (rounding) {
    case Rounding::toward_zero: return value >> shift;
    case Rounding::away_from_zero: return (value + below) >> shift;
    // Adding one less than half carries only above the tie; the lowest kept bit decides the tie.
    default: return (value + (below >> 1) + ((value >> shift) & 1)) >> shift;
  }
}

// The code of a magnitude as if the exponent field had no upper end.
template <FloatFormat format>
constexpr std::uint32_t encode_magnitude(std::uint32_t magnitude, Rounding rounding) {
  constexpr int dropped_bits = float32::mantissa_bits - format.mantissa_bits;
  if constexpr (format.is_float32_prefix()) {
    return shift_right_rounded(magnitude, dropped_bits, rounding);
  } else {
    constexpr int first_normal = format.min_exponent() + float32::bias;
    static_assert(first_normal >= 25, "float32 subnormals must lie below half a quantum");
    const int exponent = static_cast<int>(magnitude >> float32::mantissa_bits);
    const std::uint32_t mantissa = magnitude & ((1u << float32::mantissa_bits) - 1);
    // The implicit one is given to float32 subnormals, too: below half a quantum only zero matters,
    // and that is told apart below.
    const std::uint32_t significand = mantissa | 1u << float32::mantissa_bits;
    const int below_normal = exponent < first_normal ? first_normal - exponent : 0;
    // From 25 on a 24-bit significand rounds alike at every shift.
    const int shift = dropped_bits + below_normal < 25 ? dropped_bits + below_normal : 25;
    const std::uint32_t quanta =
        magnitude == 0 ? 0 : shift_right_rounded(significand, shift, rounding);
    // A normal number's quanta carry the implicit one into the exponent field, and a mantissa that
    // rounds up to the next power of two does the same: the sum is right in all cases.
    const int binade = exponent - first_normal + below_normal;
    return (static_cast<std::uint32_t>(binade) << format.mantissa_bits) + quanta;
  }
}

template <FloatFormat format>
constexpr std::uint32_t encode(float value, Overflow overflow,
                               Rounding rounding = Rounding::nearest_even) {
  constexpr std::uint32_t max_code = format.max_code();
  constexpr std::uint32_t nan_code = format.nan_code();
  constexpr std::uint32_t overflow_code = format.overflow_code();
  constexpr std::uint32_t sign_mask = format.sign_mask();
  const std::uint32_t magnitude = float32::magnitude(value);
  const bool negative = std::bit_cast<std::uint32_t>(value) >> 31;

  // "Too large" is the code next to the largest finite one, where there is such a code: so both
  // ways of overflowing are a minimum.
  static_assert(overflow_code == max_code + 1 || format.specials == Specials::none);
  const bool truncated = rounding == Rounding::toward_zero && magnitude < float32::infinity;
  const std::uint32_t limit =
      overflow == Overflow::saturate || truncated ? max_code : overflow_code;
  std::uint32_t code = encode_magnitude<format>(magnitude, rounding);
  code = code < limit ? code : limit;

  if constexpr (!format.has_sign) {
    code = negative ? 0 : code;  // the nearest number without sign
  } else {
    const bool signed_zero = format.specials != Specials::negative_zero_is_nan;
    code |= negative && (signed_zero || code != 0) ? sign_mask : 0;
  }
  return magnitude > float32::infinity ? nan_code : code;
}

constexpr std::uint32_t all_ones_if(bool condition) { return 0u - std::uint32_t{condition}; }

// Bits above the format's width are not looked at.
template <FloatFormat format>
constexpr float decode(std::uint32_t code) {
  constexpr int dropped_bits = float32::mantissa_bits - format.mantissa_bits;
  constexpr std::uint32_t magnitude_mask = format.magnitude_mask();
  constexpr std::uint32_t sign_mask = format.sign_mask();
  constexpr std::uint32_t nan_code = format.nan_code();
  constexpr std::uint32_t infinity_code = format.infinity_code();
  const std::uint32_t magnitude = code & magnitude_mask;
  const std::uint32_t sign = code & sign_mask ? float32::sign_mask : 0;
  const std::uint32_t aligned = magnitude << dropped_bits;

  if constexpr (format.is_float32_prefix()) {
    return std::bit_cast<float>(sign | aligned);
  } else {
    constexpr std::uint32_t implicit_one = 1u << float32::mantissa_bits;
    constexpr std::uint32_t rebias = static_cast<std::uint32_t>(float32::bias - format.bias)
                                     << float32::mantissa_bits;
    // A subnormal, read with an implicit one, is too large by exactly that one.
    constexpr std::uint32_t smallest_normal = rebias + implicit_one;
    const float subnormal = std::bit_cast<float>(smallest_normal | (aligned & (implicit_one - 1))) -
                            std::bit_cast<float>(smallest_normal);

    // Chosen by masks: of ?: g++ makes branches, and then loops over elements are not vectorised.
    const std::uint32_t is_subnormal = all_ones_if(aligned < implicit_one);
    std::uint32_t result = (std::bit_cast<std::uint32_t>(subnormal) & is_subnormal) |
                           ((aligned + rebias) & ~is_subnormal);
    if constexpr (format.specials == Specials::infinity_and_nan)
      result |= float32::infinity & all_ones_if(magnitude >= infinity_code);
    if constexpr (format.specials == Specials::nan_only)
      result |= float32::canonical_nan & all_ones_if(magnitude == nan_code);
    if constexpr (format.specials == Specials::negative_zero_is_nan)
      result |=
          float32::canonical_nan & all_ones_if((code & (magnitude_mask | sign_mask)) == nan_code);
    return std::bit_cast<float>(sign | result);
  }
}

// `Storage` may be wider than the format; the code then lies in the low bits, but where it is the
// upper part of a float32, it stays there (tf32).
template <class Self, class Storage, FloatFormat number_format>
struct NarrowFloat {
  static constexpr FloatFormat format = number_format;
  // PTX cvt does this by default: 16 bits and more overflow, fewer must saturate.
  static constexpr Overflow default_overflow =
      number_format.bits() >= 16 ? Overflow::infinity_or_nan : Overflow::saturate;

  static constexpr int unread_bits =
      number_format.is_float32_prefix() ? 8 * sizeof(Storage) - number_format.bits() : 0;

  Storage bits;

  NarrowFloat() = default;
  constexpr explicit NarrowFloat(float value) : NarrowFloat(from_float(value)) {}
  constexpr explicit operator float() const { return decode<number_format>(bits >> unread_bits); }

  static constexpr Self from_bits(Storage bits) {
    Self result;
    result.bits = bits;
    return result;
  }

  static constexpr Self from_float(float value, Overflow overflow = default_overflow,
                                   Rounding rounding = Rounding::nearest_even) {
    return from_bits(
        static_cast<Storage>(encode<number_format>(value, overflow, rounding) << unread_bits));
  }
};

}  // namespace tw
