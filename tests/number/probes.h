// The float32 values at which a conversion can go wrong, and a tally of where it did.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace tw::probes {

inline float from_pattern(std::uint32_t pattern) { return std::bit_cast<float>(pattern); }

// A value and its neighbours up to two units away, with both signs.
template <class Visit>
void around(double value, Visit&& visit) {
  const float centre = static_cast<float>(value);
  const float up = std::nextafter(centre, std::numeric_limits<float>::infinity());
  const float down = std::nextafter(centre, 0.0f);
  for (const float x : {std::nextafter(down, 0.0f), down, centre, up,
                        std::nextafter(up, std::numeric_limits<float>::infinity())}) {
    visit(x);
    visit(-x);
  }
}

// `values` ascending: each, and the midpoint to the next.
template <class Visit>
void around_all(const std::vector<double>& values, Visit&& visit) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    around(values[i], visit);
    if (i + 1 < values.size()) around((values[i] + values[i + 1]) / 2, visit);
  }
}

// Each exponent with every mantissa that has one bit set, one bit clear, or only leading ones, and
// the neighbours of these; this includes zeros, subnormals, infinities and NaNs of both signs.
template <class Visit>
void every_exponent(Visit&& visit) {
  for (std::uint32_t upper = 0; upper < 512; ++upper) {
    for (int bit = 0; bit <= 23; ++bit) {
      const std::uint32_t one = 1u << bit;
      for (const std::uint32_t mantissa : {one, ~one, ~(one - 1), 0u, 1u, ~1u})
        for (const std::uint32_t step : {~0u, 0u, 1u})
          visit(from_pattern(upper << 23 | ((mantissa + step) & 0x7f'ffff)));
    }
  }
}

// Evenly through all 2^32 patterns; the stride is prime so that no bit stays fixed.
template <class Visit>
void sweep(std::uint32_t prime_stride, Visit&& visit) {
  for (std::uint64_t pattern = 0; pattern < (1ull << 32); pattern += prime_stride)
    visit(from_pattern(static_cast<std::uint32_t>(pattern)));
}

template <class Visit>
void all(const std::vector<double>& values, std::uint32_t prime_stride, Visit&& visit) {
  around_all(values, visit);
  every_exponent(visit);
  sweep(prime_stride, visit);
}

// Counts, and keeps the first: a broken encoder is wrong a million times.
class Tally {
 public:
  void compare(float input, std::uint32_t got, std::uint32_t expected) {
    ++compared_;
    if (got == expected) return;
    if (wrong_++ == 0)
      first_ = fmt::format("{:a} (pattern {:08x}) gave {:#x}, expected {:#x}", input,
                           std::bit_cast<std::uint32_t>(input), got, expected);
  }
  std::uint64_t wrong() const { return wrong_; }
  std::string report() const {
    return fmt::format("{} of {} wrong; first: {}", wrong_, compared_, first_);
  }

 private:
  std::uint64_t compared_ = 0, wrong_ = 0;
  std::string first_;
};

}  // namespace tw::probes
