// A grouped product to measure: groups of mixed sizes, from a seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tw::bench {

// D = A B^T in bf16, where `rows` rows of A come in groups, each with a B of n by k.
struct GroupedCase {
  std::int64_t groups = 0, rows = 0, n = 0, k = 0;
  std::uint64_t seed = 1;

  // Integers alone decide, so that any program in any language makes the same: groups share the
  // rows as the squares of random numbers of 16 bits; the first has what is left over.
  std::vector<std::int32_t> sizes() const {
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
      const auto size =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(rows) * weight / total);
      result.push_back(static_cast<std::int32_t>(size));
      left -= size;
    }
    if (!result.empty()) result[0] += static_cast<std::int32_t>(left);
    return result;
  }
  // Tiles of so many rows that the groups need, over those of one matrix with all rows.
  double tiles_needed(std::int64_t tile_rows) const {
    const auto tiles = [&](std::int64_t count) { return (count + tile_rows - 1) / tile_rows; };
    std::int64_t needed = 0;
    for (const std::int32_t size : sizes()) needed += tiles(size);
    return static_cast<double>(needed) / static_cast<double>(tiles(rows));
  }
  double flops() const {
    return 2.0 * static_cast<double>(rows) * static_cast<double>(n) * static_cast<double>(k);
  }
  // Read and written once; a group without rows reads nothing.
  double bytes() const {
    double busy = 0;
    for (const std::int32_t size : sizes()) busy += size > 0 ? 1 : 0;
    const auto m = static_cast<double>(rows), columns = static_cast<double>(n);
    return 2.0 * (static_cast<double>(k) * (m + busy * columns) + m * columns);
  }
  std::string text() const {
    return std::to_string(groups) + " x " + std::to_string(rows) + " x " + std::to_string(n) +
           " x " + std::to_string(k);
  }
};

// What is measured where nothing else is asked for: experts of two kinds of models, prompts and
// decode.
inline std::vector<GroupedCase> usual_grouped_cases() {
  return {{8, 8192, 4096, 4096},   {8, 8192, 14336, 4096},  {8, 16384, 4096, 14336},
          {8, 256, 4096, 4096},    {64, 16384, 4096, 2048}, {64, 16384, 7168, 2048},
          {64, 32768, 4096, 7168}, {64, 512, 4096, 2048}};
}

}  // namespace tw::bench
