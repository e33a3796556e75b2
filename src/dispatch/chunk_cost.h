// What prices count of convolutions and of C: chunks of D, waits for C, lines of few channels.
#pragma once

#include <algorithm>
#include <cmath>

#include "src/dispatch/cost.h"

namespace tw {

// What lines of `c_tiles` boxes take that have equally many of a pixel's `products` of channels, of
// what whole boxes take, the last of them with zeros: cycles that TMA was measured to take for a
// row of one to four products, and of a whole box that has as many.
inline double narrow_share(double products, double c_tiles) {
  constexpr double narrow[] = {2.65, 2.82, 3.82, 4.28}, whole[] = {5.15, 4.34, 5.27, 4.28};
  const auto at = [](double count) { return static_cast<unsigned>(count) - 1; };
  const double last = products - 4 * (c_tiles - 1);
  return narrow[at(std::ceil(products / c_tiles))] * c_tiles /
         (whole[3] * (c_tiles - 1) + whole[at(last)]);
}

// Chunks of D that a group stores of a tile, each from a buffer of its own.
inline double chunks_of(const MatmulConfig& config) {
  const double line = 128.0 / bytes_of(config.d_type);
  const double chunk = std::fmod(config.tiling.n, line) == 0 ? line : line / 2;
  return config.group_rows() / 64.0 * std::ceil(config.tiling.n / chunk);
}

// How often a group waits for C in a tile: for each chunk of D where threads read it behind the
// sums, for each block of rows where sums begin at it, and for what a ring has no room for.
inline double source_waits(const MatmulConfig& config) {
  const double blocks = config.group_rows() / 64.0, chunks = chunks_of(config);
  const double brought = std::min(1.0, config.c_stages / chunks);
  if (config.c_stages == 0) return config.initial_c != 0 ? blocks : chunks;
  return (1 - brought) * blocks + (config.initial_c != 0 ? 0 : 1);
}

}  // namespace tw
