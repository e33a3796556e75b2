// Random layouts for property tests. The seed is printed; TW_SEED replays it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "tilewright/layout/algebra.h"

namespace tw {

inline std::uint64_t test_seed() {
  const char* given = std::getenv("TW_SEED");
  std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 0) : 20260731;
  std::printf("TW_SEED=%llu replays this run\n", static_cast<unsigned long long>(seed));
  return seed;
}

class RandomLayouts {
 public:
  explicit RandomLayouts(std::uint64_t seed) : engine_(seed) {}

  // Uniform in [first, last]; the same on every platform, unlike the standard distributions.
  int number(int first, int last) {
    return first + static_cast<int>(engine_() % static_cast<std::uint64_t>(last - first + 1));
  }

  // A random tree with any strides: zero, overlapping and negative ones too.
  Layout any(int most_leaves, int most_extent) {
    Layout layout = tree(most_leaves, most_extent);
    bool may_be_negative = number(0, 7) == 0;
    for (int i = 0; i < layout.leaves; ++i) {
      int stride = number(0, 3) == 0 ? number(0, 40) : 1 << number(0, 6);
      layout.strides.set(i, may_be_negative && number(0, 1) == 0 ? -stride : stride);
    }
    return layout;
  }

  // A random tree whose leaves fill memory in a random order, perhaps with gaps.
  Layout compact(int most_leaves, int most_extent, bool with_gaps) {
    Layout layout = tree(most_leaves, most_extent);
    std::int64_t stride = with_gaps ? number(1, 3) : 1;
    std::uint32_t done = 0;
    for (int count = 0; count < layout.leaves; ++count) {
      int leaf = number(0, layout.leaves - 1);
      while ((done >> leaf & 1) != 0) leaf = (leaf + 1) % layout.leaves;
      done |= 1u << leaf;
      layout.strides.set(leaf, stride);
      stride *= layout.extents[leaf] * (with_gaps && number(0, 2) == 0 ? number(1, 3) : 1);
    }
    return layout;
  }

 private:
  Layout tree(int most_leaves, int most_extent) {
    Layout layout{};
    int leaves = number(1, most_leaves);
    for (int i = 0; i < leaves; ++i) {
      int extent = number(0, 1) == 0 ? 1 << number(0, 3) : number(1, most_extent);
      Layout child = single(extent, 0);
      // Either a new mode, or a deeper last mode.
      if (i > 0 && number(0, 2) == 0) {
        int modes = rank(layout);
        Layout grown = from_modes(mode(layout, modes - 1), child);
        Layout rebuilt = modes > 1 ? take(layout, 0, modes - 1) : Layout{};
        push_mode(rebuilt, grown);
        layout = rebuilt;
      } else {
        push_mode(layout, child);
      }
    }
    return layout;
  }

  std::mt19937_64 engine_;
};

}  // namespace tw
