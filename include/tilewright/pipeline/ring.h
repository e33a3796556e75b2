// TilePipeline: a ring of stages between roles that load and roles that read.
//
// produce() and consume() wait, take the slot and step; their token signals that slot when it dies.
// Nobody arrives, expects or steps by hand. The start is here, too: nobody signals before it.
#pragma once

#include <utility>

#include "tilewright/base/annotate.h"
#include "tilewright/io/tiling.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/threads.h"
#include "tilewright/layout/access.h"
#include "tilewright/pipeline/payload.h"
#include "tilewright/pipeline/trace.h"

namespace tw {

// Slot and lap of one end of a ring. Both ends start at slot 0, lap 0, and step alike.
template <unsigned stages, class Signal>
struct RingPosition {
  unsigned slot = 0;
  unsigned lap = 0;
  unsigned steps = 0;  // for reports only; unused on a GPU, where it costs nothing

  TW_DEVICE void step() {
    ++steps;
    if (++slot == stages) {
      slot = 0;
      lap = Signal::next_lap(lap);
    }
  }
  TW_DEVICE void skip(unsigned count) {
    steps += count;
    slot += count;
    lap = Signal::later_lap(lap, slot / stages);
    slot %= stages;
  }
};

// `cluster_shape`: whose multicasts write into one's stages. `cta_group` CTAs multiply as one (2 on
// sm_100a): the leader's barriers speak for both.
template <class PayloadType, unsigned num_stages, class SignalType,
          ClusterShape cluster_shape = ClusterShape{}, unsigned cta_group = 1>
struct Ring {
  using Payload = PayloadType;
  using Signal = SignalType;
  using Counts = PayloadCounts<Payload>;
  using Tiles = typename Payload::Tiles;
  using Barriers = typename Signal::template Storage<num_stages>;
  static constexpr unsigned stages = num_stages;
  static constexpr ClusterShape cluster = cluster_shape;
  static constexpr unsigned group = cta_group;
  static_assert(group == 1 || cluster.m == group,
                "A pair of CTAs stands along m, and alone there.");
  static constexpr unsigned full_arrivals = Counts::full_arrivals;
  // A stage is free again when the readers of every CTA that its multicasts reach have let go.
  static constexpr unsigned empty_arrivals =
      Counts::empty_arrivals * (group == 1 ? cluster.sharers() : cluster.n);

  // All stages, as the payload's tensors; their last mode is the stage.
  static TW_DEVICE auto tensors(Tiles* tiles) {
    return typename Payload::RingTensors(isa::shared_address(tiles));
  }
  static TW_DEVICE auto stage_tensors(Tiles* tiles, unsigned slot) {
    return typename Payload::StageTensors(isa::shared_address(&tiles[slot]));
  }

  // One thread calls it, before the CTAs of the cluster meet.
  static TW_DEVICE void init(Barriers& barriers, Tiles* tiles) {
    Signal::template init<Ring>(barriers);
    for (unsigned stage = 0; stage < stages; ++stage) {
      isa::describe_shared(isa::shared_address(&tiles[stage]), sizeof(Tiles), Payload::name, stage);
    }
  }
};

// The loading end. Held by every thread of `role` that takes part: one elected thread for TMA and
// products, all of them for copies by threads.
template <class Ring, Role role, class Trace>
class Producer {
  using Signal = typename Ring::Signal;
  static constexpr Completion completion = Ring::Counts::completion_by(role);
  static constexpr unsigned bytes = Ring::Counts::bytes_by(role);
  using Announced = typename Ring::Counts::template Announced<Signal>;

 public:
  class TW_CONSUMABLE Token : public Announced {
   public:
    TW_BORN(consumed) Token() = default;  // holds nothing
    TW_DEVICE Token(Token&& other) noexcept { take(other); }
    TW_DEVICE Token& operator=(Token&& other) noexcept {
      release();
      take(other);
      return *this;
    }
    TW_DEVICE ~Token() { release(); }
    using Fills = Ring;
    // What a copy signals.
    TW_NOT_AFTER_MOVE TW_DEVICE CopySignal full() const {
      return Signal::template copy_signal<Ring>(full_);
    }
    // The stage, as the payload's tensors.
    TW_NOT_AFTER_MOVE TW_DEVICE auto tensors() const {
      return typename Ring::Payload::StageTensors(tiles_);
    }
    TW_NOT_AFTER_MOVE TW_DEVICE unsigned slot() const { return slot_; }

   private:
    friend Producer;
    TW_BORN(unconsumed)
    TW_DEVICE Token(unsigned slot, SharedAddress full, SharedAddress tiles,
                    typename Trace::Handle trace)
        : slot_(slot), full_(full), tiles_(tiles), trace_(trace) {}
    TW_DEVICE void release() {
      if (full_ != 0) this->template announce<Ring, completion, bytes>(full_);
      trace_.releases();
    }
    TW_DEVICE void take(Token& other) {
      slot_ = other.slot_;
      full_ = std::exchange(other.full_, 0u);
      tiles_ = other.tiles_;
      Announced::operator=(other);
      trace_ = std::exchange(other.trace_, typename Trace::Handle{});
    }
    // Values only: a token that pointed at its producer would push it out of the registers.
    unsigned slot_ = 0;
    SharedAddress full_ = 0;  // 0: holds nothing
    SharedAddress tiles_ = 0;
    typename Trace::Handle trace_;
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
    Signal::template after_wait<Ring>();
    trace_.goes();
    isa::describe_step(position_.steps);
    position_.step();
    return Token(slot, full_ + Signal::stride * slot,
                 tiles_ + slot * unsigned{sizeof(typename Ring::Tiles)}, trace_.handle());
  }

  // The slot of the next stage, and to leave it to another warp of the role.
  TW_DEVICE unsigned next_slot() const { return position_.slot; }
  TW_DEVICE void pass() { position_.step(); }

  // A stage of the first lap, which nobody has filled yet, for copies ahead of its produce().
  class Ahead {
   public:
    using Fills = Ring;
    TW_DEVICE CopySignal full() const { return Signal::template copy_signal<Ring>(full_); }
    TW_DEVICE auto tensors() const { return typename Ring::Payload::StageTensors(tiles_); }

   private:
    friend Producer;
    TW_DEVICE Ahead(SharedAddress full, SharedAddress tiles) : full_(full), tiles_(tiles) {}
    SharedAddress full_;
    SharedAddress tiles_;
  };
  TW_DEVICE Ahead ahead(unsigned slot) const {
    return {full_ + Signal::stride * slot, tiles_ + slot * unsigned{sizeof(typename Ring::Tiles)}};
  }

  // Waits until every stage has been let go: no reader signals a CTA that is gone, and nobody reads
  // what ends with this role.
  TW_DEVICE void drain() {
    for (unsigned i = 0; i < Ring::stages; ++i) {
      Signal::template wait_empty<Ring>(empty_ + Signal::stride * position_.slot, position_.lap);
      position_.step();
    }
    Signal::template after_wait<Ring>();
  }

 private:
  RingPosition<Ring::stages, Signal> position_;
  SharedAddress full_;
  SharedAddress empty_;
  SharedAddress tiles_;
  Trace trace_;
};

// The reading end. Held by all threads of a group; `thread` counts within it.
template <class Ring, Release how, class Trace>
class Consumer {
  using Signal = typename Ring::Signal;

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
    using Reads = Ring;
    TW_NOT_AFTER_MOVE TW_DEVICE unsigned slot() const { return slot_; }
    // The end of a token in two halves, for a loop that lets go in its last round: were it moved
    // there, only the run would know whether it still dies behind the loop.
    TW_DEVICE void let_go() { release(); }
    TW_DEVICE void forget() {
      held_ = false;
      signal_ = 0;
      trace_ = {};
    }

   private:
    friend Consumer;
    TW_BORN(unconsumed)
    TW_DEVICE Token(unsigned slot, bool held, SharedAddress signal, typename Trace::Handle trace)
        : slot_(slot), held_(held), signal_(signal), trace_(trace) {}
    TW_DEVICE void release() {
      // All lanes, before the one that speaks says so.
      if constexpr (how == Release::Warp) {
        if (held_) {
          Signal::template before_release<Ring>();
          isa::warp_sync();
        }
      }
      if (signal_ != 0) Signal::template release<Ring, how>(signal_);
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
    typename Trace::Handle trace_;
  };

  TW_DEVICE Consumer(typename Ring::Barriers& barriers, unsigned thread, Trace trace)
      : full_(barriers.first_full()), empty_(barriers.first_empty()), trace_(trace) {
    signals_ = Signal::template speaks<Ring, how>(thread);
    empty_ = Signal::template heard_at<Ring, how>(empty_, thread, signals_);
  }
  Consumer(const Consumer&) = delete;

  [[nodiscard]] TW_BORN(unconsumed) TW_DEVICE Token consume() {
    const unsigned slot = position_.slot;
    trace_.waits(slot);
    Signal::template wait_full<Ring>(full_ + Signal::stride * slot, position_.lap);
    Signal::template after_wait<Ring>();
    trace_.goes();
    isa::describe_step(position_.steps);
    position_.step();
    return Token(slot, true, signals_ ? empty_ + Signal::stride * slot : 0, trace_.handle());
  }

  // Waits, without taking anything, until the stage `behind` the next is full: its slot. Groups
  // that share every tile start and stay apart this way: one multiplies while the other stores.
  TW_DEVICE unsigned await_ahead(unsigned behind = 0) {
    const unsigned ahead = position_.slot + behind;
    Signal::template wait_full<Ring>(full_ + Signal::stride * ahead, position_.lap);
    return ahead;
  }

  // The stages of a tile that another group consumes.
  TW_DEVICE void skip(unsigned count) { position_.skip(count); }

 private:
  RingPosition<Ring::stages, Signal> position_;
  SharedAddress full_;
  SharedAddress empty_;
  bool signals_;
  Trace trace_;
};

// Keeps the last `depth` tokens alive, so that their products and copies stay in flight.
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

// The first moment of a kernel: signals come to life before anyone, here or in the cluster, uses
// them. `init` is called by one thread and initialises every signal of the kernel. In a cluster all
// threads call `before_meeting` when they have arrived: it may touch signals of its own CTA alone,
// and only by the thread that initialised them, for nobody has met yet.
template <bool in_cluster, class Init, class BeforeMeeting>
TW_DEVICE void start_together(unsigned thread, [[maybe_unused]] unsigned threads, const Init& init,
                              [[maybe_unused]] const BeforeMeeting& before_meeting) {
  if (thread == 0) {
    init();
    isa::fence_mbarrier_init();
  }
  if constexpr (in_cluster) {
    // The cluster barrier covers the CTA: peers may signal our barriers as soon as they run.
    isa::cluster_arrive();
    before_meeting();
    isa::cluster_wait();
  } else {
    isa::barrier_sync(0, threads);
  }
}
template <bool in_cluster, class Init>
TW_DEVICE void start_together(unsigned thread, unsigned threads, const Init& init) {
  start_together<in_cluster>(thread, threads, init, [] {});
}

}  // namespace tw
