// The signals of a ring as memory barriers with phases: every arrival is counted by hardware, bytes
// of copies too, and waiting threads sleep. A lap of the ring is a phase, of which the parity
// tells.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/tiling.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/cp_async.h"
#include "tilewright/isa/ptx/tcgen05.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/isa/ptx/tma_pair.h"
#include "tilewright/layout/access.h"
#include "tilewright/pipeline/payload.h"

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

  // Around signals about tensor memory: products and loads there follow no other order.
  template <class Ring>
  static TW_DEVICE void after_wait() {
    if constexpr (Ring::Payload::space == Space::Tensor) isa::tcgen05_fence_after_thread_sync();
  }
  template <class Ring>
  static TW_DEVICE void before_release() {
    if constexpr (Ring::Payload::space == Space::Tensor) isa::tcgen05_fence_before_thread_sync();
  }

  // The barrier that a copy into a stage counts its bytes on.
  template <class Ring>
  static TW_DEVICE CopySignal copy_signal(SharedAddress full) {
    return Ring::group == 1 ? full : isa::leader_barrier(full);
  }

  // By whoever loads: what it brought, or will have brought, fills its part of the stage.
  template <class Ring, Completion completion, unsigned bytes>
  static TW_DEVICE void announce(SharedAddress full) {
    if constexpr (completion == Completion::TransactionBytes) {
      // The arrival counts for all bytes of the stage: the phase cannot end before it, however
      // early the copies land.
      if constexpr (Ring::group == 1) {
        isa::mbarrier_arrive_expect_tx(full, bytes);
      } else {
        if (isa::cluster_rank() % Ring::group == 0) {
          isa::mbarrier_arrive_expect_tx(full, bytes * Ring::group);
        }
      }
    } else if constexpr (completion == Completion::CopiesArrive) {
      isa::cp_async_mbarrier_arrive_noinc(full);
    } else if constexpr (completion == Completion::Commit) {
      if constexpr (Ring::group == 1) {
        isa::tcgen05_commit<1>(full);
      } else {
        const unsigned leader = isa::cluster_rank();
        isa::tcgen05_commit_multicast<Ring::group>(full, static_cast<std::uint16_t>(3u << leader));
      }
    } else {
      if constexpr (completion == Completion::WarpsArriveFenced) isa::fence_proxy_async();
      before_release<Ring>();
      isa::warp_sync();
      if (isa::thread_index() % isa::warp_lanes() == 0) isa::mbarrier_arrive(full);
    }
  }

  // Whether this thread of a group of readers arrives. Thread t speaks to CTA t of the cluster,
  // where that CTA's copies reach this one.
  template <class Ring, Release how>
  static TW_DEVICE bool speaks(unsigned thread) {
    // Device code calls members of no static object.
    constexpr ClusterShape cluster = Ring::cluster;
    if constexpr (how == Release::Commit) {
      return true;
    } else if constexpr (cluster.size() == 1 || Ring::group > 1) {
      return thread == 0;
    } else {
      return thread < cluster.size() && cluster.same_row_or_column(thread, isa::cluster_rank());
    }
  }
  // Address of the empty barrier to arrive on; CTA pairs arrive on the leader's.
  template <class Ring, Release how>
  static TW_DEVICE SharedAddress heard_at(SharedAddress empty, unsigned thread, bool speaks) {
    if constexpr (how == Release::Commit || Ring::cluster.size() == 1) {
      return empty;
    } else if constexpr (Ring::group > 1) {
      return isa::mapa(empty, isa::cluster_rank() / Ring::group * Ring::group);
    } else {
      return isa::mapa(empty, speaks ? thread : 0);
    }
  }
  // A reader that speaks calls it: the stage may be overwritten.
  template <class Ring, Release how>
  static TW_DEVICE void release(SharedAddress empty) {
    constexpr ClusterShape cluster = Ring::cluster;
    if constexpr (how == Release::Commit) {
      if constexpr (cluster.size() == 1) {
        isa::tcgen05_commit<1>(empty);
      } else {
        const unsigned rank = isa::cluster_rank();
        const unsigned mask =
            Ring::group == 1 ? cluster.sharers_mask(rank) : (1u << cluster.size()) - 1;
        isa::tcgen05_commit_multicast<Ring::group>(empty, static_cast<std::uint16_t>(mask));
      }
    } else if constexpr (cluster.size() > 1) {
      isa::mbarrier_arrive_cluster(empty);
    } else {
      isa::mbarrier_arrive(empty);
    }
  }
};

}  // namespace tw
