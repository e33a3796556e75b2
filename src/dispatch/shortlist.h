// Which launches are worth measuring: those that the cost model likes best, and the best of each
// kind, about which it may be wrong.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "src/dispatch/choose_launch.h"

namespace tw {

// Kernels of one kind are mispriced alike: rows of a tile that are loaded, how sums are made, who
// multiplies, and what.
constexpr auto kind_of(const MatmulConfig& config) {
  const Tiling& tiling = config.tiling;
  return std::tuple(tiling.loaded_rows != 0 ? tiling.loaded_rows : tiling.m, config.split,
                    config.consumers, config.tiling.swap_ab);
}

// The `count` cheapest, at most two orders of one kernel, then the cheapest of each other kind that
// is not expected to take more than three times as long as the first.
inline std::vector<LaunchChoice> shortlist(std::vector<LaunchChoice> all, std::size_t count) {
  using Launch = LaunchChoice;
  constexpr std::ptrdiff_t most_orders = 2;
  constexpr double too_slow = 3;
  std::stable_sort(all.begin(), all.end(), [](const Launch& a, const Launch& b) {
    return a.microseconds < b.microseconds;
  });
  std::vector<Launch> kept;
  const auto like = [&kept](const auto& is_like) {
    return std::count_if(kept.begin(), kept.end(), is_like);
  };
  for (const Launch& one : all) {
    const bool is_new = kept.size() < count && like([&one](const Launch& other) {
                                                 return other.instance == one.instance;
                                               }) < most_orders;
    const bool is_odd =
        one.microseconds <= too_slow * all.front().microseconds &&
        like([&one](const Launch& other) {
          return kind_of(config_of(*other.instance)) == kind_of(config_of(*one.instance));
        }) == 0;
    if (is_new || is_odd) kept.push_back(one);
  }
  return kept;
}

}  // namespace tw
