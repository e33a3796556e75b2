// One spelling of the conversions from and to float for every element type.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>

#include "tilewright/number/traits.h"

namespace tw {

// Exact, but for an int32 beyond 2^24.
template <Number T>
constexpr float to_float(T value) {
  return static_cast<float>(value);
}

// Nearest, ties to even; out of range saturates; NaN becomes 0: PTX's cvt.rni.sat.
template <std::signed_integral T>
constexpr T round_to_integer(float value) {
  constexpr float range_end = -static_cast<float>(std::numeric_limits<T>::min());  // exclusive
  if (float32::is_nan(value)) return 0;
  if (value >= range_end) return std::numeric_limits<T>::max();
  if (value < -range_end) return std::numeric_limits<T>::min();
  std::int64_t whole = static_cast<std::int64_t>(value);  // toward zero
  const float rest = value - static_cast<float>(whole);  // exact: no bit of it is below the value's
  const bool odd = whole % 2 != 0;
  if (rest > 0.5f || (rest == 0.5f && odd)) ++whole;
  if (rest < -0.5f || (rest == -0.5f && odd)) --whole;
  constexpr std::int64_t max = std::numeric_limits<T>::max();
  return static_cast<T>(whole < max ? whole : max);
}

// With the default rounding and overflow of the type.
template <Number T>
constexpr T from_float(float value) {
  if constexpr (NumberTraits<T>::is_integer) {
    return round_to_integer<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

}  // namespace tw
