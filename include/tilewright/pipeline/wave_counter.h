// Counters of a ring whose loaders wait for their loads themselves, some of which are still on
// their way: what announces a stage must not wait for those as well, as a release would.
#pragma once

#include "tilewright/isa/amdgcn/wave_memory.h"
#include "tilewright/pipeline/counter.h"

namespace tw {

struct WaveCounters : SplitCounters {
  template <class Ring, Completion completion, unsigned bytes>
  static TW_DEVICE void announce(SharedAddress full) {
    static_assert(completion == Completion::WarpsArrive,
                  "Copies and products do not add to counters: the waves that load must arrive.");
    isa::warp_sync();
    if (isa::thread_index() % isa::warp_lanes() == 0) isa::ds_add_u32(full, 1);
  }
};

}  // namespace tw
