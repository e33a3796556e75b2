// Division by a number that is known only when a kernel is launched: a multiplication and a shift.
#pragma once

#include <bit>
#include <cstdint>

namespace tw {

// Divides what is below 2^31. With l = ceil(log2 d) and m = ceil(2^(31 + l) / d), the product x * m
// is off 2^(31 + l) x / d by less than x * d / d <= 2^31, that is, by less than 1 / d of the
// quotient's unit.
struct Divisor {
  unsigned value = 1;
  unsigned multiplier = 1u << 31;
  unsigned shift = 31;

  constexpr Divisor() = default;
  constexpr explicit Divisor(unsigned divisor)
      : value(divisor), shift(31 + static_cast<unsigned>(std::bit_width(divisor - 1))) {
    multiplier = static_cast<unsigned>(((std::uint64_t{1} << shift) + divisor - 1) / divisor);
  }
  constexpr unsigned quotient(unsigned x) const {
    return static_cast<unsigned>(std::uint64_t{x} * multiplier >> shift);
  }
  constexpr unsigned remainder(unsigned x) const { return x - quotient(x) * value; }
};

}  // namespace tw
