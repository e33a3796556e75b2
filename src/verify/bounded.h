// Numbers of a float32 computation, in double precision, with a bound on how far it may be off.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "tilewright/epilogue/arguments.h"

namespace tw {

// The largest power of two that divides a number; infinite for 0.
inline double lowest_bit(double number) {
  if (number == 0.0) return std::numeric_limits<double>::infinity();
  int exponent = 0;
  const double fraction = std::frexp(std::abs(number), &exponent);
  const auto digits = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  return std::ldexp(1.0, exponent - 53 + std::countr_zero(digits));
}

// The kernel's float32 lies within `error` of `value`. A `unit` above 0 says that every number that
// went into it was a multiple of `unit`: what stays below 2^24 units is then exact, in whichever
// order it is added up.
struct Bounded {
  double value = 0.0;
  double error = 0.0;
  double unit = std::numeric_limits<double>::infinity();

  static Bounded exactly(double value) { return {value, 0.0, lowest_bit(value)}; }
};

// The error of one float32 operation whose operands' magnitudes sum or multiply to `magnitude`.
inline double rounding_error(double magnitude, double unit) {
  if (unit > 0.0 && magnitude <= std::ldexp(unit, 24)) return 0.0;
  return std::ldexp(magnitude, -24) * 1.0001 + std::ldexp(1.0, -149);
}

inline Bounded operator*(const Bounded& a, const Bounded& b) {
  if (a.value == 1.0 && a.error == 0.0) return b;
  if (b.value == 1.0 && b.error == 0.0) return a;
  Bounded result;
  result.value = a.value * b.value;
  result.unit = a.unit == 0.0 || b.unit == 0.0 ? 0.0 : a.unit * b.unit;
  result.error = std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error;
  result.error += rounding_error(std::abs(result.value) + result.error, result.unit);
  return result;
}

// Added up in any order, with or without fused multiplications.
inline Bounded sum_of(std::initializer_list<Bounded> terms) {
  Bounded result;
  double magnitude = 0.0;
  int additions = -1;
  for (const Bounded& term : terms) {
    if (term.value == 0.0 && term.error == 0.0) continue;
    ++additions;
    result.value += term.value;
    result.error += term.error;
    result.unit = std::min(result.unit, term.unit);
    magnitude += std::abs(term.value) + term.error;
  }
  result.error += std::max(additions, 0) * rounding_error(magnitude, result.unit);
  return result;
}

struct ActivationArguments {
  Activation activation = Activation::None;
  double clamp_low = 0.0;
  double clamp_high = 0.0;
};
Bounded activated(const Bounded& x, const ActivationArguments& arguments);

}  // namespace tw
