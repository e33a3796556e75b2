// What a floating-point format is: field widths, bias, and which codes are not ordinary numbers.
// Codes are laid out sign | exponent | mantissa, sign highest.
#pragma once

#include <cstdint>

namespace tw {

enum class Specials {
  infinity_and_nan,      // the all-ones exponent, as in IEEE 754
  nan_only,              // the all-ones magnitude
  negative_zero_is_nan,  // "fnuz": the code of -0 is the only NaN, so zero has no sign
  none,                  // every code is finite
};

struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;
  bool has_sign = true;

  constexpr int magnitude_bits() const { return exponent_bits + mantissa_bits; }
  constexpr int bits() const { return magnitude_bits() + (has_sign ? 1 : 0); }
  constexpr std::uint32_t magnitude_mask() const { return (1u << magnitude_bits()) - 1; }
  constexpr std::uint32_t sign_mask() const { return has_sign ? 1u << magnitude_bits() : 0; }

  constexpr std::uint32_t infinity_code() const {
    return ((1u << exponent_bits) - 1) << mantissa_bits;
  }

  constexpr std::uint32_t max_code() const {
    switch (specials) {
      case Specials::infinity_and_nan: return infinity_code() - 1;
      case Specials::nan_only: return magnitude_mask() - 1;
      default: return magnitude_mask();
    }
  }

  // What NaN becomes. All mantissa bits are set, as in PTX's canonical NaN; a format without NaN
  // takes its positive maximum, as PTX cvt does.
  constexpr std::uint32_t nan_code() const {
    switch (specials) {
      case Specials::negative_zero_is_nan: return sign_mask();
      case Specials::none: return max_code();
      default: return magnitude_mask();
    }
  }

  // The magnitude that stands for "too large" where the conversion does not saturate.
  constexpr std::uint32_t overflow_code() const {
    return specials == Specials::infinity_and_nan ? infinity_code() : nan_code();
  }

  // The exponent of the largest finite number; MX calls it emax.
  constexpr int max_exponent() const {
    return static_cast<int>(max_code() >> mantissa_bits) - bias;
  }
  constexpr int min_exponent() const { return 1 - bias; }  // the smallest normal number's

  // Then a code is the upper part of the float32 pattern, subnormals and specials included.
  constexpr bool is_float32_prefix() const {
    return exponent_bits == 8 && bias == 127 && has_sign && specials == Specials::infinity_and_nan;
  }
};

inline constexpr FloatFormat float32_format{8, 23, 127, Specials::infinity_and_nan};
inline constexpr FloatFormat tf32_format{8, 10, 127, Specials::infinity_and_nan};
inline constexpr FloatFormat bf16_format{8, 7, 127, Specials::infinity_and_nan};
inline constexpr FloatFormat fp16_format{5, 10, 15, Specials::infinity_and_nan};
inline constexpr FloatFormat e5m2_format{5, 2, 15, Specials::infinity_and_nan};
inline constexpr FloatFormat e4m3_format{4, 3, 7, Specials::nan_only};
inline constexpr FloatFormat ue4m3_format{4, 3, 7, Specials::nan_only, false};
inline constexpr FloatFormat e5m2fnuz_format{5, 2, 16, Specials::negative_zero_is_nan};
inline constexpr FloatFormat e4m3fnuz_format{4, 3, 8, Specials::negative_zero_is_nan};
inline constexpr FloatFormat e3m2_format{3, 2, 3, Specials::none};
inline constexpr FloatFormat e2m3_format{2, 3, 1, Specials::none};
inline constexpr FloatFormat e2m1_format{2, 1, 1, Specials::none};

}  // namespace tw
