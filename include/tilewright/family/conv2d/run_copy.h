// Elements of two bytes that lie side by side and begin in any half of a word: read by words, and
// shifted where they begin amid one.
#pragma once

#include <cstdint>

#include "tilewright/base/annotate.h"
#include "tilewright/isa/shared_memory.h"
#include "tilewright/layout/access.h"

namespace tw {

// Eight elements, of which those from `low` on and before `high` are there; the others are zero.
// Words that hold one that is there are read, with whatever stands beside it.
struct Run {
  const std::uint16_t* first;
  unsigned there;  // a bit for each

  TW_DEVICE Run(const std::uint16_t* given, int low, int high)
      : first(given),
        there(0xffu >> (8 - (high < 0   ? 0
                             : high > 8 ? 8
                                        : high))) {
    there &= 0xffu << (low > 8 ? 8 : low);
  }
  TW_DEVICE bool is_odd() const { return reinterpret_cast<std::uintptr_t>(first) % 4 != 0; }
};

struct FetchedRun {
  std::uint32_t words[5];
  unsigned there;
  bool is_odd;

  TW_DEVICE void fetch(const Run& run) {
    there = run.there;
    is_odd = run.is_odd();
    const unsigned half = is_odd ? 1 : 0;
    const auto* const from = reinterpret_cast<const std::uint32_t*>(run.first - half);
    const unsigned halves = there << half;
    TW_UNROLL
    for (unsigned i = 0; i < 5; ++i) {
      const bool wanted = (halves & 3u << 2 * i) != 0;
      words[i] = wanted ? load_element<Space::Global>(from + i) : 0;
    }
  }
  TW_DEVICE void store(SharedAddress to) const {
    std::uint32_t stored[4];
    TW_UNROLL
    for (unsigned i = 0; i < 4; ++i) {
      stored[i] = is_odd ? words[i] >> 16 | words[i + 1] << 16 : words[i];
      stored[i] &= ((there & 1u << 2 * i) != 0 ? 0xffffu : 0u) |
                   ((there & 2u << 2 * i) != 0 ? 0xffff0000u : 0u);
    }
    isa::store_shared_16(to, stored);
  }
};

}  // namespace tw
