// The reading end of a ring.
#pragma once

#include "tilewright/isa/ptx/tcgen05.h"
#include "tilewright/isa/ptx/warp.h"
#include "tilewright/pipeline/ring.h"

namespace tw {

// Who says that a stage has been read.
enum class Release : unsigned {
  Group,   // one thread of a warpgroup: what it waited for holds for all of them
  Warp,    // each warp, when all of its lanes are done
  Thread,  // the one thread that reads at all
  Commit,  // the tensor core, when the products issued so far are done
};

// Held by all threads of a reading group; `thread` counts within it.
template <class Ring, Release how, class Trace>
class Consumer {
  using Signal = typename Ring::Signal;
  static constexpr bool in_cluster = Ring::cluster.size() > 1;

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
    TW_NOT_AFTER_MOVE TW_DEVICE unsigned slot() const { return slot_; }

   private:
    friend Consumer;
    TW_BORN(unconsumed)
    TW_DEVICE Token(unsigned slot, bool held, SharedAddress signal, typename Trace::Handle trace)
        : slot_(slot), held_(held), signal_(signal), trace_(trace) {}
    TW_DEVICE void release() {
      // All lanes, before the one that speaks says so.
      if constexpr (how == Release::Warp) {
        if (held_) {
          if constexpr (Ring::Payload::space == Space::Tensor) {
            isa::tcgen05_fence_before_thread_sync();
          }
          isa::warp_sync();
        }
      }
      if (signal_ != 0) arrive(signal_);
      trace_.releases();
    }
    TW_DEVICE void take(Token& other) {
      slot_ = other.slot_;
      held_ = std::exchange(other.held_, false);
      signal_ = std::exchange(other.signal_, 0u);
      trace_ = std::exchange(other.trace_, typename Trace::Handle{});
    }
    // Values only: a token that pointed at its consumer would push it out of the registers.
    unsigned slot_ = 0;
    bool held_ = false;
    // Where this thread arrives; 0: another does, or nothing is held.
    SharedAddress signal_ = 0;
    [[no_unique_address]] typename Trace::Handle trace_;
  };

  // Thread t of the group speaks to CTA t of the cluster, where that CTA's copies reach this one.
  TW_DEVICE Consumer(typename Ring::Barriers& barriers, unsigned thread, Trace trace)
      : full_(barriers.first_full()), empty_(barriers.first_empty()), trace_(trace) {
    constexpr ClusterShape cluster =
        Ring::cluster;  // device code calls members of no static object
    if constexpr (how == Release::Commit) {
      signals_ = true;
    } else if constexpr (!in_cluster) {
      signals_ = thread == 0;
    } else if constexpr (Ring::group > 1) {
      signals_ = thread == 0;
      empty_ = isa::mapa(empty_, isa::cluster_rank() / Ring::group * Ring::group);
    } else {
      signals_ = thread < cluster.size() && cluster.same_row_or_column(thread, isa::cluster_rank());
      empty_ = isa::mapa(empty_, signals_ ? thread : 0);
    }
  }
  Consumer(const Consumer&) = delete;

  [[nodiscard]] TW_BORN(unconsumed) TW_DEVICE Token consume() {
    const unsigned slot = position_.slot;
    trace_.waits(slot);
    Signal::template wait_full<Ring>(full_ + Signal::stride * slot, position_.lap);
    if constexpr (Ring::Payload::space == Space::Tensor) isa::tcgen05_fence_after_thread_sync();
    trace_.goes();
    isa::describe_step(position_.steps);
    position_.step();
    return Token(slot, true, signals_ ? empty_ + Signal::stride * slot : 0, trace_.handle());
  }

  // Waits, without taking anything, until the first lap has filled `slot`. Groups that share every
  // tile start apart this way, and stay apart: one multiplies while the other stores.
  TW_DEVICE void hang_back(unsigned slot) {
    Signal::template wait_full<Ring>(full_ + Signal::stride * slot, 0);
  }

  // The stages of a tile that another group consumes.
  TW_DEVICE void skip(unsigned count) { position_.skip(count); }

 private:
  static TW_DEVICE void arrive(SharedAddress empty) {
    if constexpr (how == Release::Commit) {
      if constexpr (!in_cluster) {
        isa::tcgen05_commit<1>(empty);
      } else {
        constexpr ClusterShape cluster = Ring::cluster;
        const unsigned rank = isa::cluster_rank();
        const unsigned mask =
            Ring::group == 1 ? cluster.sharers_mask(rank) : (1u << cluster.size()) - 1;
        isa::tcgen05_commit_multicast<Ring::group>(empty, static_cast<std::uint16_t>(mask));
      }
    } else if constexpr (in_cluster) {
      Signal::arrive_cluster(empty);
    } else {
      Signal::arrive(empty);
    }
  }

  RingPosition<Ring::stages, Signal> position_;
  SharedAddress full_;
  SharedAddress empty_;
  bool signals_;
  [[no_unique_address]] Trace trace_;
};

// Keeps the last `depth` tokens alive: the deferred release that lets products and copies stay in
// flight.
template <class Token, unsigned depth>
class Held {
 public:
  TW_DEVICE void keep(Token&& token) {
    if constexpr (depth == 0) {
      const Token released = std::move(token);
    } else {
      // The oldest dies by the first assignment.
      TW_UNROLL
      for (unsigned i = 0; i + 1 < depth; ++i) tokens_[i] = std::move(tokens_[i + 1]);
      tokens_[depth - 1] = std::move(token);
    }
  }

 private:
  Token tokens_[depth == 0 ? 1 : depth];
};

}  // namespace tw
