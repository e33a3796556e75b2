// Matrices to quantise.
#pragma once

#include <cmath>
#include <limits>

#include "src/verify/case.h"

namespace tw {

// Factors, one for each block of a row: its normally distributed numbers are multiplied with it.
class QuantisedSizes {
 public:
  QuantisedSizes(std::uint64_t seed, ElementType type) : random_(seed), type_(type) {}

  double next() {
    const auto drawn = random_() % 16;
    const int range = type_ == ElementType::Fp16 ? 8 : 100;
    if (drawn == 0) return 0.0;
    if (drawn == 1) return type_ == ElementType::Fp16 ? 0x1p-20 : 0x1p-130;
    if (drawn < 8) return 1.0;
    return std::ldexp(1.0, static_cast<int>(random_() % static_cast<unsigned>(2 * range)) - range);
  }
  // One in some thousands.
  double special(double value) {
    const auto drawn = random_() % 4096;
    if (drawn == 0) return std::numeric_limits<double>::infinity();
    if (drawn == 1) return -std::numeric_limits<double>::infinity();
    return drawn == 2 ? std::numeric_limits<double>::quiet_NaN() : value;
  }

 private:
  Random random_;
  ElementType type_;
};

// Fill::Normal: numbers of very different sizes, among them blocks of zeros, of subnormal numbers,
// and with infinities and NaNs; Fill::Integers: from -8 to 8; Fill::Position: each element tells
// its place.
inline void fill_to_quantise(HostMatrix& source, Fill fill, std::uint64_t seed) {
  Random random(seed);
  std::normal_distribution<double> normal;
  QuantisedSizes sizes(seed + 1, source.type);
  double size = 1.0;
  source.fill([&](std::int64_t batch, std::int64_t row, std::int64_t column) -> double {
    if (fill == Fill::Integers) return static_cast<double>(random() % 17) - 8;
    if (fill == Fill::Position) {
      return static_cast<double>((batch * 101 + row * 31 + column * 7) % 251 - 125);
    }
    if (column % 128 == 0) size = sizes.next();
    return sizes.special(normal(random) * size);
  });
}

}  // namespace tw
