// The sixteen named barriers of a CTA, and the barrier of a cluster.
#pragma once

#include <cstdint>

#include "vgpu/machine/clock.h"
#include "vgpu/machine/wait.h"

namespace tw::vgpu {

constexpr unsigned named_barrier_count = 16;

struct NamedBarrier {
  unsigned id = 0;
  unsigned expected = 0;  // threads; meaningful while some have arrived
  unsigned arrived = 0;
  unsigned reducing = 0;  // who have arrived by barrier.red
  unsigned votes = 0;     // those among them whose predicate holds
  WaitList waiters;
  ReleaseClock arriving;
  std::uint64_t time = 0;
};

// Relaxed arrivals order no memory, and carry only inits of mbarriers; others release.
struct ClusterBarrier {
  unsigned arrived = 0;
  std::uint64_t phase = 0;
  WaitList waiters;
  ReleaseClock arriving;
  ClockRef done;
  std::uint64_t time = 0;
  std::uint64_t completed_time = 0;
};

}  // namespace tw::vgpu

namespace tw::model {

// barrier.red, which isa/ptx does not have: for how many threads the predicate holds.
unsigned barrier_reduce(unsigned id, unsigned threads, bool vote);

}  // namespace tw::model
