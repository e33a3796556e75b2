// Division by a number that is known only when a kernel is launched: a multiplication and a shift.
#pragma once

#include <bit>
#include <cstdint>

namespace tw {

// Divides what is below 2^31. With l = ceil(log2 d) and m = ceil(2^(31 + l) / d), the product x * m
// exceeds 2^(31 + l) * x / d by less than x < 2^31, that is, x / d by less than 2^-l <= 1 / d: too
// little to reach the next integer.
struct Quotient {
  unsigned multiplier = 1u << 31;
  unsigned shift = 31;

  constexpr Quotient() = default;
  constexpr explicit Quotient(unsigned divisor)
      : shift(31 + static_cast<unsigned>(std::bit_width(divisor - 1))) {
    multiplier = static_cast<unsigned>(((std::uint64_t{1} << shift) + divisor - 1) / divisor);
  }
  template <class Integer>
  constexpr Integer of(Integer x) const {
    return static_cast<Integer>(std::uint64_t{static_cast<unsigned>(x)} * multiplier >> shift);
  }
};

// The same where somebody asks for a remainder: three words of a launch's parameters.
struct Divisor {
  unsigned value = 1;
  Quotient by;

  constexpr Divisor() = default;
  constexpr explicit Divisor(unsigned divisor) : value(divisor), by(divisor) {}
  struct Divided {
    unsigned quotient, remainder;
  };
  constexpr Divided divide(unsigned x) const {
    const unsigned quotient = by.of(x);
    return {quotient, x - quotient * value};
  }
  // Leaves the quotient in x and returns the remainder.
  constexpr unsigned split(unsigned& x) const {
    const auto [quotient, remainder] = divide(x);
    x = quotient;
    return remainder;
  }
};

}  // namespace tw
