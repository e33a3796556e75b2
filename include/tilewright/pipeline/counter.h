// The signals of a ring as atomic counters in shared memory that only grow: the portable baseline.
// A lap of the ring adds every arrival of loaders and readers once.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/counter.h"
#include "tilewright/isa/ptx/threads.h"

namespace tw {

// Loaders and readers share one counter per stage: within a lap all who load come before all who
// read.
struct SingleCounters {
  static constexpr unsigned stride = 4;

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

  static constexpr unsigned next_lap(unsigned lap) { return lap + 1; }
  static constexpr unsigned later_lap(unsigned lap, unsigned laps) { return lap + laps; }

  template <class Ring>
  static TW_DEVICE void wait_full(SharedAddress count, unsigned lap) {
    isa::counter_wait_at_least(
        count, lap * (Ring::full_arrivals + Ring::empty_arrivals) + Ring::full_arrivals);
  }
  template <class Ring>
  static TW_DEVICE void wait_empty(SharedAddress count, unsigned lap) {
    isa::counter_wait_at_least(count, lap * (Ring::full_arrivals + Ring::empty_arrivals));
  }

  static TW_DEVICE void arrive(SharedAddress count) { isa::counter_add_release(count, 1); }
};

// A counter for the loaders and one for the readers: neither end takes the other's cache line.
struct SplitCounters {
  static constexpr unsigned stride = 4;

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

  static constexpr unsigned next_lap(unsigned lap) { return lap + 1; }
  static constexpr unsigned later_lap(unsigned lap, unsigned laps) { return lap + laps; }

  template <class Ring>
  static TW_DEVICE void wait_full(SharedAddress full, unsigned lap) {
    isa::counter_wait_at_least(full, (lap + 1) * Ring::full_arrivals);
  }
  template <class Ring>
  static TW_DEVICE void wait_empty(SharedAddress empty, unsigned lap) {
    isa::counter_wait_at_least(empty, lap * Ring::empty_arrivals);
  }

  static TW_DEVICE void arrive(SharedAddress count) { isa::counter_add_release(count, 1); }
};

}  // namespace tw
