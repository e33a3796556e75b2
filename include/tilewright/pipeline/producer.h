// The loading end of a ring.
#pragma once

#include "tilewright/isa/ptx/barrier.h"
#include "tilewright/isa/ptx/cp_async.h"
#include "tilewright/isa/ptx/tcgen05.h"
#include "tilewright/isa/ptx/tma_pair.h"
#include "tilewright/isa/ptx/warp.h"
#include "tilewright/pipeline/ring.h"

namespace tw {

// Held by every thread of `role` that takes part: one elected thread for TMA and products, all of
// them for copies by threads.
template <class Ring, Role role, class Trace>
class Producer {
  using Signal = typename Ring::Signal;
  static constexpr Completion completion = Ring::Counts::completion_by(role);
  static constexpr unsigned bytes = Ring::Counts::bytes_by(role);

 public:
  class TW_CONSUMABLE Token {
   public:
    TW_BORN(consumed) Token() = default;  // holds nothing
    TW_DEVICE Token(Token&& other) noexcept { take(other); }
    TW_DEVICE Token& operator=(Token&& other) noexcept {
      release();
      take(other);
      return *this;
    }
    TW_DEVICE ~Token() { release(); }
    // What a copy signals.
    TW_NOT_AFTER_MOVE TW_DEVICE SharedAddress full() const {
      if constexpr (Ring::group == 1)
        return full_;
      else
        return isa::leader_barrier(full_);
    }
    TW_NOT_AFTER_MOVE TW_DEVICE SharedAddress tiles() const { return tiles_; }
    TW_NOT_AFTER_MOVE TW_DEVICE unsigned slot() const { return slot_; }

   private:
    friend Producer;
    TW_BORN(unconsumed)
    TW_DEVICE Token(unsigned slot, SharedAddress full, SharedAddress tiles,
                    typename Trace::Handle trace)
        : slot_(slot), full_(full), tiles_(tiles), trace_(trace) {}
    TW_DEVICE void release() {
      if (full_ != 0) announce(full_);
      trace_.releases();
    }
    TW_DEVICE void take(Token& other) {
      slot_ = other.slot_;
      full_ = std::exchange(other.full_, 0u);
      tiles_ = other.tiles_;
      trace_ = std::exchange(other.trace_, typename Trace::Handle{});
    }
    // Values only: a token that pointed at its producer would push it out of the registers.
    unsigned slot_ = 0;
    SharedAddress full_ = 0;  // 0: holds nothing
    SharedAddress tiles_ = 0;
    [[no_unique_address]] typename Trace::Handle trace_;
  };

  TW_DEVICE Producer(typename Ring::Barriers& barriers, typename Ring::Tiles* tiles, Trace trace)
      : full_(barriers.first_full()),
        empty_(barriers.first_empty()),
        tiles_(isa::shared_address(tiles)),
        trace_(trace) {}
  Producer(const Producer&) = delete;

  [[nodiscard]] TW_BORN(unconsumed) TW_DEVICE Token produce() {
    const unsigned slot = position_.slot;
    trace_.waits(slot);
    Signal::template wait_empty<Ring>(empty_ + Signal::stride * slot, position_.lap);
    if constexpr (Ring::Payload::space == Space::Tensor) isa::tcgen05_fence_after_thread_sync();
    trace_.goes();
    isa::describe_step(position_.steps);
    position_.step();
    return Token(slot, full_ + Signal::stride * slot,
                 tiles_ + slot * unsigned{sizeof(typename Ring::Tiles)}, trace_.handle());
  }

  // Waits until every stage has been let go: no reader signals a CTA that is gone, and nobody reads
  // what ends with this role.
  TW_DEVICE void drain() {
    for (unsigned i = 0; i < Ring::stages; ++i) {
      Signal::template wait_empty<Ring>(empty_ + Signal::stride * position_.slot, position_.lap);
      position_.step();
    }
    if constexpr (Ring::Payload::space == Space::Tensor) isa::tcgen05_fence_after_thread_sync();
  }

 private:
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
      isa::warp_sync();
      if (isa::thread_index() % 32 == 0) Signal::arrive(full);
    }
  }

  RingPosition<Ring::stages, Signal> position_;
  SharedAddress full_;
  SharedAddress empty_;
  SharedAddress tiles_;
  [[no_unique_address]] Trace trace_;
};

}  // namespace tw
