// Numbers of 16 bits as doubles: results are rounded once, however far apart the operands lie.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "tilewright/number/narrow_float.h"

namespace tw::vgpu::ptx {

// The value toward zero, with its last bit set if it is not exact: rounding it to fewer bits then
// gives what rounding the exact value gives.
inline float odd_float(double value) {
  auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value)) return nearest;
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value)) {
    nearest = std::nextafter(nearest, 0.0f);
  }
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(nearest) | 1);
}
inline double odd_sum(double a, double b) {
  double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  const double of_b = sum - a;
  const double rest = (a - (sum - of_b)) + (b - of_b);
  if (rest == 0) return sum;
  if ((rest > 0) != (sum > 0)) sum = std::nextafter(sum, 0.0);
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(sum) | 1);
}

template <class Number>
struct HalfFormat {
  static double value(std::uint16_t bits) {
    return static_cast<double>(static_cast<float>(Number::from_bits(bits)));
  }
  // NaN is the canonical one.
  static std::uint16_t round(double value) {
    return std::isnan(value) ? std::uint16_t{0x7fff} : Number(odd_float(value)).bits;
  }
};
using FormatF16 = HalfFormat<Fp16>;
using FormatBf16 = HalfFormat<Bf16>;

struct HalfAdd {
  static double of(double a, double b) { return odd_sum(a, b); }
};

// Both halves of a word, each alone.
template <class Format, class Operation, class... Words>
std::uint32_t on_halves(Words... words) {
  const auto half = [&](unsigned shift) {
    return std::uint32_t{
        Format::round(Operation::of(Format::value(static_cast<std::uint16_t>(words >> shift))...))};
  };
  return half(0) | half(16) << 16;
}

}  // namespace tw::vgpu::ptx
