// Products in groups, with known answers.
#pragma once

#include <cstdint>
#include <vector>

#include "src/verify/case.h"
#include "tilewright/family/grouped/family.h"

namespace tw {

// src/instances/table.cpp.in makes it.
std::span<const Instance> grouped_instances();

extern const Trial grouped_trial;

}  // namespace tw

// How groups share rows, from a seed.
namespace tw::bench {

// Integers alone decide, so that any program in any language makes the same: groups share the rows
// as the squares of random numbers of 16 bits; the first has what is left over.
inline std::vector<std::int32_t> group_sizes(std::int64_t groups, std::int64_t rows,
                                             std::uint64_t seed) {
  std::vector<std::uint64_t> weights;
  std::uint64_t total = 0, state = seed;
  for (std::int64_t group = 0; group < groups; ++group) {
    std::uint64_t bits = state += 0x9E3779B97F4A7C15ull;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9ull;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBull;
    const std::uint64_t drawn = (bits ^ bits >> 31) >> 48;
    total += weights.emplace_back(drawn * drawn + 1);
  }
  std::vector<std::int32_t> result;
  std::int64_t left = rows;
  for (const std::uint64_t weight : weights) {
    const auto size = static_cast<std::int64_t>(static_cast<std::uint64_t>(rows) * weight / total);
    result.push_back(static_cast<std::int32_t>(size));
    left -= size;
  }
  if (!result.empty()) result[0] += static_cast<std::int32_t>(left);
  return result;
}

// Tiles of so many rows that groups need, over those of one matrix with all rows.
inline double tiles_needed(const std::vector<std::int32_t>& sizes, std::int64_t tile_rows) {
  const auto tiles = [&](std::int64_t count) { return (count + tile_rows - 1) / tile_rows; };
  std::int64_t needed = 0, rows = 0;
  for (const std::int32_t size : sizes) {
    needed += tiles(size);
    rows += size;
  }
  return static_cast<double>(needed) / static_cast<double>(tiles(rows));
}

}  // namespace tw::bench
