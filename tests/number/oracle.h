// A second opinion on the narrow formats, made to share nothing with the code under test: constants
// typed from the format descriptions, values from ldexp in double, encoding by bisection of the
// table of all values. All quantities are exact in double.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tilewright/number/traits.h"

namespace tw::oracle {

struct Spec {
  int mantissa_bits;
  int bias;
  double max;                       // the largest finite value
  std::uint32_t sign;               // the sign bit, 0 without sign
  std::uint32_t nan;                // what NaN is encoded to
  std::uint32_t overflow;           // the magnitude of what does not fit, without saturation
  std::vector<std::uint32_t> nans;  // the magnitudes that are NaN, first and last
  bool has_infinity = false;
  bool has_negative_zero = true;
};

template <class T>
Spec spec_of();

template <>
inline Spec spec_of<Tf32>() {
  return {10, 127, 0x1.ffcp127, 0x40000, 0x3ffff, 0x3fc00, {0x3fc01, 0x3ffff}, true};
}
template <>
inline Spec spec_of<Bf16>() {
  return {7, 127, 0x1.fep127, 0x8000, 0x7fff, 0x7f80, {0x7f81, 0x7fff}, true};
}
template <>
inline Spec spec_of<Fp16>() {
  return {10, 15, 65504, 0x8000, 0x7fff, 0x7c00, {0x7c01, 0x7fff}, true};
}
template <>
inline Spec spec_of<E5m2>() {
  return {2, 15, 57344, 0x80, 0x7f, 0x7c, {0x7d, 0x7f}, true};
}
template <>
inline Spec spec_of<E4m3>() {
  return {3, 7, 448, 0x80, 0x7f, 0x7f, {0x7f, 0x7f}};
}
template <>
inline Spec spec_of<Ue4m3>() {
  return {3, 7, 448, 0, 0x7f, 0x7f, {0x7f, 0x7f}};
}
template <>
inline Spec spec_of<E5m2Fnuz>() {
  return {2, 16, 57344, 0x80, 0x80, 0x80, {}, false, false};
}
template <>
inline Spec spec_of<E4m3Fnuz>() {
  return {3, 8, 240, 0x80, 0x80, 0x80, {}, false, false};
}
template <>
inline Spec spec_of<E3m2>() {
  return {2, 3, 28, 0x20, 0x1f, 0x1f, {}};
}
template <>
inline Spec spec_of<E2m3>() {
  return {3, 1, 7.5, 0x20, 0x1f, 0x1f, {}};
}
template <>
inline Spec spec_of<E2m1>() {
  return {1, 1, 6, 0x8, 0x7, 0x7, {}};
}

template <class T>
class Oracle {
 public:
  Oracle() : spec_(spec_of<T>()) {
    const int per_binade = 1 << spec_.mantissa_bits;
    for (int code = 0; values_.empty() || values_.back() < spec_.max; ++code) {
      const int field = code / per_binade, mantissa = code % per_binade;
      const int exponent = (field == 0 ? 1 : field) - spec_.bias - spec_.mantissa_bits;
      values_.push_back(std::ldexp(mantissa + (field == 0 ? 0 : per_binade), exponent));
    }
    // Where the next value would be, if the exponent went on: above its midpoint lies overflow.
    values_.push_back(2 * values_.back() - values_[values_.size() - 2]);
  }

  const Spec& spec() const { return spec_; }
  // By magnitude code, ascending; the last one is the first that does not fit.
  const std::vector<double>& values() const { return values_; }
  std::uint32_t max_code() const { return static_cast<std::uint32_t>(values_.size() - 2); }

  double decode(std::uint32_t code) const {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double sign = code & spec_.sign ? -1 : 1;
    const std::uint32_t magnitude = spec_.sign ? code % spec_.sign : code;
    if (!spec_.has_negative_zero && code == spec_.sign) return nan;
    if (!spec_.nans.empty() && magnitude >= spec_.nans[0] && magnitude <= spec_.nans[1]) return nan;
    if (spec_.has_infinity && magnitude == spec_.overflow)
      return sign * std::numeric_limits<double>::infinity();
    return sign * values_.at(magnitude);
  }

  std::uint32_t encode(double value, Overflow overflow,
                       Rounding rounding = Rounding::nearest_even) const {
    if (std::isnan(value)) return spec_.nan;
    const bool negative = std::signbit(value);
    if (negative && spec_.sign == 0) return 0;
    const std::uint32_t code = encode_magnitude(std::fabs(value), overflow, rounding);
    if (code == 0 && !spec_.has_negative_zero) return 0;
    return negative ? code | spec_.sign : code;
  }

 private:
  std::uint32_t encode_magnitude(double value, Overflow overflow, Rounding rounding) const {
    const std::uint32_t too_large = overflow == Overflow::saturate ? max_code() : spec_.overflow;
    if (std::isinf(value)) return too_large;
    if (value >= values_.back()) return rounding == Rounding::toward_zero ? max_code() : too_large;
    const auto above = std::upper_bound(values_.begin(), values_.end(), value);
    const std::uint32_t low = static_cast<std::uint32_t>(above - values_.begin()) - 1;
    const double to_low = value - values_[low], to_high = *above - value;
    bool up = false;
    if (rounding == Rounding::away_from_zero) up = to_low > 0;
    if (rounding == Rounding::nearest_even)
      up = to_high < to_low || (to_high == to_low && low % 2 == 1);
    const std::uint32_t code = up ? low + 1 : low;
    return code > max_code() ? too_large : code;
  }

  Spec spec_;
  std::vector<double> values_;
};

template <class T>
const Oracle<T>& oracle_of() {
  static const Oracle<T> instance;
  return instance;
}

// The scale of a block with this amax, of a type with this largest number. A quotient of two
// floats, rounded to double and then to float, is rounded right.
inline float block_scale(double amax, double max, bool power_of_two) {
  if (!std::isfinite(amax)) return std::bit_cast<float>(0x7fffffffu);
  if (amax == 0.0) return 1.0f;
  if (!power_of_two) return std::max(static_cast<float>(amax / max), 0x1p-126f);
  double scale = 0x1p-126;
  while (scale * max < amax) scale *= 2.0;
  return static_cast<float>(scale);
}

}  // namespace tw::oracle
