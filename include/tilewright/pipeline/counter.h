// The signals of a ring as atomic counters in shared memory that only grow: the portable baseline.
// A lap of the ring adds every arrival of loaders and readers once.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/counter.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/threads.h"
#include "tilewright/pipeline/payload.h"

namespace tw {

// Warps add to a counter, each by one of its lanes when all of them are done; nothing else can.
struct CounterArrivals {
  static constexpr unsigned stride = 4;
  static constexpr unsigned next_lap(unsigned lap) { return lap + 1; }
  static constexpr unsigned later_lap(unsigned lap, unsigned laps) { return lap + laps; }

  template <class Ring>
  static TW_DEVICE void after_wait() {}
  template <class Ring>
  static TW_DEVICE void before_release() {}

  template <class Ring, Completion completion, unsigned bytes>
  static TW_DEVICE void announce(SharedAddress full) {
    static_assert(completion == Completion::WarpsArrive,
                  "Copies and products do not add to counters: the warps that load must arrive.");
    isa::warp_sync();
    if (isa::thread_index() % isa::warp_lanes() == 0) isa::counter_add_release(full, 1);
  }
  template <class Ring, Release how>
  static TW_DEVICE bool speaks(unsigned thread) {
    static_assert(Ring::cluster.size() == 1, "Counters of other CTAs are out of reach.");
    return thread == 0;
  }
  template <class Ring, Release how>
  static TW_DEVICE SharedAddress heard_at(SharedAddress empty, unsigned, bool) {
    return empty;
  }
  template <class Ring, Release how>
  static TW_DEVICE void release(SharedAddress empty) {
    static_assert(how != Release::Commit, "The tensor core does not add to counters.");
    isa::counter_add_release(empty, 1);
  }
};

// Loaders and readers share one counter per stage: within a lap all who load come before all who
// read.
struct SingleCounters : CounterArrivals {
  template <unsigned stages>
  struct Storage {
    std::uint32_t count[stages];  // count[s]: add the loaders, then the readers of stage s;
                                  // publishes the tiles, then that they may be overwritten;
                                  // waited by the readers, then by the loaders
    TW_DEVICE SharedAddress first_full() const { return isa::shared_address(count); }
    TW_DEVICE SharedAddress first_empty() const { return isa::shared_address(count); }
  };

  template <class Ring>
  static TW_DEVICE void init(Storage<Ring::stages>& storage) {
    for (unsigned stage = 0; stage < Ring::stages; ++stage) {
      isa::counter_init(isa::shared_address(&storage.count[stage]));
    }
  }

  template <class Ring>
  static TW_DEVICE void wait_full(SharedAddress count, unsigned lap) {
    isa::counter_wait_at_least(
        count, lap * (Ring::full_arrivals + Ring::empty_arrivals) + Ring::full_arrivals);
  }
  template <class Ring>
  static TW_DEVICE void wait_empty(SharedAddress count, unsigned lap) {
    isa::counter_wait_at_least(count, lap * (Ring::full_arrivals + Ring::empty_arrivals));
  }
};

// A counter for the loaders and one for the readers: neither end takes the other's cache line.
struct SplitCounters : CounterArrivals {
  template <unsigned stages>
  struct Storage {
    std::uint32_t full[stages];   // full[s]: add the loaders of stage s; publishes its tiles;
                                  // waited by the readers
    std::uint32_t empty[stages];  // empty[s]: add the readers of stage s; publishes that it may be
                                  // overwritten; waited by the loaders
    TW_DEVICE SharedAddress first_full() const { return isa::shared_address(full); }
    TW_DEVICE SharedAddress first_empty() const { return isa::shared_address(empty); }
  };

  template <class Ring>
  static TW_DEVICE void init(Storage<Ring::stages>& storage) {
    for (unsigned stage = 0; stage < Ring::stages; ++stage) {
      isa::counter_init(isa::shared_address(&storage.full[stage]));
      isa::counter_init(isa::shared_address(&storage.empty[stage]));
    }
  }

  template <class Ring>
  static TW_DEVICE void wait_full(SharedAddress full, unsigned lap) {
    isa::counter_wait_at_least(full, (lap + 1) * Ring::full_arrivals);
  }
  template <class Ring>
  static TW_DEVICE void wait_empty(SharedAddress empty, unsigned lap) {
    isa::counter_wait_at_least(empty, lap * Ring::empty_arrivals);
  }
};

}  // namespace tw
