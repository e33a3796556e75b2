// Scales of blocks of FP8, by seed.
#pragma once

#include <cmath>
#include <random>

#include "src/verify/matrix.h"
#include "src/verify/shape.h"

namespace tw {

// Integers up to `most` that float32 holds after any product with a partial sum: 128 products of
// integers up to 4 stay below 2^12. Where one element is selected, powers of two tell the place.
inline void fill_block_scales(HostMatrix& scales, Fill fill, int most, std::mt19937_64& random) {
  std::uniform_real_distribution<double> between(0.001, 2.0);
  scales.fill([&](std::int64_t, std::int64_t, std::int64_t) -> double {
    if (fill == Fill::Normal) return between(random);
    const auto drawn = static_cast<int>(random() % static_cast<unsigned>(most));
    return fill == Fill::Position ? std::ldexp(1.0, drawn) : drawn + 1;
  });
}

// family block_scaled: begin
// Of integers, sums over 1280 of k stay below 2^24 with them.
inline void fill_powers_of_two(HostMatrix& scales, Fill fill, std::mt19937_64& random) {
  scales.fill([&](std::int64_t, std::int64_t, std::int64_t) -> double {
    const auto drawn = static_cast<int>(random() % 16);
    return std::ldexp(1.0, fill == Fill::Integers ? drawn % 4 : drawn - 12);
  });
}
// family block_scaled: end

}  // namespace tw
