// The signals of a ring as memory barriers with phases: every arrival is counted by hardware, bytes
// of copies too, and waiting threads sleep. A lap of the ring is a phase, of which the parity
// tells. And the start of a kernel, before which nobody signals.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/threads.h"

namespace tw {

TW_DEVICE void wait_for_phase(SharedAddress barrier, unsigned parity) {
  while (!isa::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

struct Mbarriers {
  static constexpr unsigned stride = 8;

  template <unsigned stages>
  struct Storage {
    std::uint64_t full[stages];   // full[s]: arrive those who load + bytes of all parts;
                                  // publishes the tiles of stage s; waited by the readers
    std::uint64_t empty[stages];  // empty[s]: arrive the readers of each sharer;
                                  // publishes that stage s may be overwritten; waited by the loader
    TW_DEVICE SharedAddress first_full() const { return isa::shared_address(full); }
    TW_DEVICE SharedAddress first_empty() const { return isa::shared_address(empty); }
  };

  template <class Ring>
  static TW_DEVICE void init(Storage<Ring::stages>& storage) {
    for (unsigned stage = 0; stage < Ring::stages; ++stage) {
      const SharedAddress full = isa::shared_address(&storage.full[stage]);
      const SharedAddress empty = isa::shared_address(&storage.empty[stage]);
      isa::mbarrier_init(full, Ring::full_arrivals);
      isa::mbarrier_init(empty, Ring::empty_arrivals);
      isa::describe_barrier(full, Ring::Payload::full_name, stage);
      isa::describe_barrier(empty, Ring::Payload::empty_name, stage);
    }
  }

  static constexpr unsigned next_lap(unsigned lap) { return lap ^ 1; }
  static constexpr unsigned later_lap(unsigned lap, unsigned laps) { return lap ^ (laps & 1); }

  template <class Ring>
  static TW_DEVICE void wait_full(SharedAddress full, unsigned lap) {
    wait_for_phase(full, lap);
  }
  // The first lap finds every stage empty: waiting for the lap before the first passes at once.
  template <class Ring>
  static TW_DEVICE void wait_empty(SharedAddress empty, unsigned lap) {
    wait_for_phase(empty, lap ^ 1);
  }

  static TW_DEVICE void arrive(SharedAddress barrier) { isa::mbarrier_arrive(barrier); }
  static TW_DEVICE void arrive_cluster(SharedAddress barrier) {
    isa::mbarrier_arrive_cluster(barrier);
  }
};

// What the threads of a CTA write before they start together, and the tensor core reads. The
// cluster's barrier orders no writes, so that in a cluster they meet for it.
template <bool in_cluster, class Write>
TW_DEVICE void prepare_operands([[maybe_unused]] unsigned threads, const Write& write) {
  write();
  isa::fence_proxy_async();
  if constexpr (in_cluster) isa::barrier_sync(0, threads);
}

// The first moment of a kernel: signals come to life before anyone, here or in the cluster, uses
// them. `init` is called by one thread and initialises every signal of the kernel.
template <bool in_cluster, class Init>
TW_DEVICE void start_together(unsigned thread, [[maybe_unused]] unsigned threads,
                              const Init& init) {
  if (thread == 0) {
    init();
    isa::fence_mbarrier_init();
  }
  if constexpr (in_cluster) {
    // The cluster barrier covers the CTA: peers may signal our barriers as soon as they run.
    isa::cluster_arrive();
    isa::cluster_wait();
  } else {
    isa::barrier_sync(0, threads);
  }
}

}  // namespace tw
