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
  int low, high;

  TW_DEVICE bool holds(int i) const { return i >= low && i < high; }
  TW_DEVICE bool is_odd() const { return reinterpret_cast<std::uintptr_t>(first) % 4 != 0; }
};

struct FetchedRun {
  Run run;
  std::uint32_t words[5];

  TW_DEVICE void fetch(const Run& given) {
    run = given;
    const int half = run.is_odd() ? 1 : 0;
    const auto* const from = reinterpret_cast<const std::uint32_t*>(run.first - half);
    TW_UNROLL
    for (int i = 0; i < 5; ++i) {
      const bool wanted = run.holds(2 * i - half) || run.holds(2 * i + 1 - half);
      words[i] = wanted ? load_element<Space::Global>(from + i) : 0;
    }
  }
  TW_DEVICE void store(SharedAddress to) const {
    const bool is_odd = run.is_odd();
    std::uint32_t stored[4];
    TW_UNROLL
    for (int i = 0; i < 4; ++i) {
      stored[i] = is_odd ? words[i] >> 16 | words[i + 1] << 16 : words[i];
      stored[i] &= (run.holds(2 * i) ? 0xffffu : 0u) | (run.holds(2 * i + 1) ? 0xffff0000u : 0u);
    }
    isa::store_shared_16(to, stored);
  }
};

}  // namespace tw
