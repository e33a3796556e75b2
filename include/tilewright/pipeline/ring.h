// TilePipeline: a ring of stages between a loading role and a reading role.
//
// produce() and consume() wait, take the slot and step; the token they return signals that slot
// when it dies. Nobody arrives, expects or steps by hand.
#pragma once

#include <utility>

#include "tilewright/base/annotate.h"
#include "tilewright/io/cluster.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/barrier.h"
#include "tilewright/isa/ptx/sreg.h"
#include "tilewright/pipeline/payload.h"
#include "tilewright/pipeline/trace.h"
#include "tilewright/pipeline/wait.h"

namespace tw {

// Slot and lap of one end of a ring. Both ends start at slot 0, lap 0, and step alike.
template <unsigned stages>
struct RingPosition {
  unsigned slot = 0;
  unsigned lap = 0;    // modulo 2
  unsigned steps = 0;  // for reports only; unused on a GPU, where it costs nothing

  TW_DEVICE void step() {
    ++steps;
    if (++slot == stages) {
      slot = 0;
      lap ^= 1;
    }
  }
  TW_DEVICE void skip(unsigned count) {
    steps += count;
    slot += count;
    lap ^= slot / stages & 1;
    slot %= stages;
  }
};

template <class Payload, unsigned num_stages, ClusterShape cluster_shape>
struct Ring {
  using Counts = PayloadCounts<Payload>;
  using Tiles = typename Payload::Tiles;
  static constexpr unsigned stages = num_stages;
  static constexpr ClusterShape cluster = cluster_shape;
  // A stage is free again when the readers of every CTA that its multicasts reach have let go.
  static constexpr unsigned empty_arrivals = Counts::reading_groups * cluster.sharers();

  struct Barriers {
    std::uint64_t full[stages];   // full[s]: arrives the loading thread + bytes of all parts;
                                  // publishes the tiles of stage s; waited by the reading groups
    std::uint64_t empty[stages];  // empty[s]: arrives one thread per reading group of each sharer;
                                  // publishes that stage s may be overwritten; waited by the loader
  };

  // By one thread, before the CTAs of the cluster meet.
  static TW_DEVICE void init(Barriers& barriers, Tiles* tiles) {
    for (unsigned stage = 0; stage < stages; ++stage) {
      const SharedAddress full = isa::shared_address(&barriers.full[stage]);
      const SharedAddress empty = isa::shared_address(&barriers.empty[stage]);
      isa::mbarrier_init(full, Counts::full_arrivals);
      isa::mbarrier_init(empty, empty_arrivals);
      isa::describe_barrier(full, "input.full", stage);
      isa::describe_barrier(empty, "input.empty", stage);
      isa::describe_shared(isa::shared_address(&tiles[stage]), sizeof(Tiles), "input", stage);
    }
  }
};

// The loading end, held by one elected thread.
template <class Ring, class Trace>
class Producer {
 public:
  class Token {
   public:
    Token(const Token&) = delete;
    Token& operator=(const Token&) = delete;
    // The arrival counts for all bytes of the stage: the phase cannot end before it, however early
    // the copies land.
    TW_DEVICE ~Token() {
      isa::mbarrier_arrive_expect_tx(full(), Ring::Counts::bytes);
      producer_->trace_.releases();
    }
    TW_DEVICE SharedAddress full() const { return producer_->full_ + 8 * slot_; }
    TW_DEVICE SharedAddress tiles() const {
      return producer_->tiles_ + slot_ * unsigned{sizeof(typename Ring::Tiles)};
    }

   private:
    friend Producer;
    TW_DEVICE Token(Producer* producer, unsigned slot) : producer_(producer), slot_(slot) {}
    Producer* producer_;
    unsigned slot_;
  };

  TW_DEVICE Producer(typename Ring::Barriers& barriers, typename Ring::Tiles* tiles, Trace trace)
      : full_(isa::shared_address(barriers.full)),
        empty_(isa::shared_address(barriers.empty)),
        tiles_(isa::shared_address(tiles)),
        trace_(trace) {}
  Producer(const Producer&) = delete;

  [[nodiscard]] TW_DEVICE Token produce() {
    const unsigned slot = position_.slot;
    trace_.waits(slot);
    // The first lap finds every stage empty: waiting for the lap before the first passes at once.
    wait_for_phase(empty_ + 8 * slot, position_.lap ^ 1);
    trace_.goes();
    isa::describe_step(position_.steps);
    position_.step();
    return Token(this, slot);
  }

  // Waits until every stage has been let go, so that no reader of the cluster signals a CTA that is
  // gone.
  TW_DEVICE void drain() {
    for (unsigned i = 0; i < Ring::stages; ++i) {
      wait_for_phase(empty_ + 8 * position_.slot, position_.lap ^ 1);
      position_.step();
    }
  }

 private:
  RingPosition<Ring::stages> position_;
  SharedAddress full_;
  SharedAddress empty_;
  SharedAddress tiles_;
  [[no_unique_address]] Trace trace_;
};

// The reading end, held by all threads of a reading group of 128.
template <class Ring, class Trace>
class Consumer {
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
    TW_DEVICE Token(unsigned slot, SharedAddress signal, typename Trace::Handle trace)
        : slot_(slot), signal_(signal), trace_(trace) {}
    TW_DEVICE void release() {
      if (signal_ != 0) {
        if constexpr (Ring::cluster.size() == 1)
          isa::mbarrier_arrive(signal_);
        else
          isa::mbarrier_arrive_cluster(signal_);
      }
      trace_.releases();
    }
    TW_DEVICE void take(Token& other) {
      slot_ = other.slot_;
      signal_ = std::exchange(other.signal_, 0u);
      trace_ = std::exchange(other.trace_, typename Trace::Handle{});
    }
    // Values only: a token that pointed at its consumer would push it out of the registers.
    unsigned slot_ = 0;
    SharedAddress signal_ =
        0;  // the barrier this thread arrives at; 0: another does, or none is held
    [[no_unique_address]] typename Trace::Handle trace_;
  };

  // Thread t of the group speaks to CTA t of the cluster, where that CTA's copies reach this one.
  TW_DEVICE Consumer(typename Ring::Barriers& barriers, unsigned thread_in_group, Trace trace)
      : full_(isa::shared_address(barriers.full)),
        empty_(isa::shared_address(barriers.empty)),
        trace_(trace) {
    constexpr ClusterShape cluster = Ring::cluster;
    if constexpr (cluster.size() == 1) {
      signals_ = thread_in_group == 0;
    } else {
      signals_ = thread_in_group < cluster.size() &&
                 cluster.same_row_or_column(thread_in_group, isa::cluster_rank());
      empty_ = isa::mapa(empty_, signals_ ? thread_in_group : 0);
    }
  }
  Consumer(const Consumer&) = delete;

  [[nodiscard]] TW_BORN(unconsumed) TW_DEVICE Token consume() {
    const unsigned slot = position_.slot;
    trace_.waits(slot);
    wait_for_phase(full_ + 8 * slot, position_.lap);
    trace_.goes();
    isa::describe_step(position_.steps);
    position_.step();
    return Token(slot, signals_ ? empty_ + 8 * slot : 0, trace_.handle());
  }

  // Waits, without taking anything, until the first lap has filled `slot`. Groups that share every
  // tile start apart this way, and stay apart: one multiplies while the other stores.
  TW_DEVICE void hang_back(unsigned slot) { wait_for_phase(full_ + 8 * slot, 0); }

  // The stages of a tile that another group consumes.
  TW_DEVICE void skip(unsigned count) { position_.skip(count); }

 private:
  RingPosition<Ring::stages> position_;
  SharedAddress full_;
  SharedAddress empty_;
  bool signals_;
  [[no_unique_address]] Trace trace_;
};

// Keeps the last `depth` tokens alive: the deferred release that lets products stay in flight.
template <class Token, unsigned depth>
class Held {
  static_assert(depth == 1, "One stage in flight is what wgmma needs; nothing asks for more yet.");

 public:
  TW_DEVICE void keep(Token&& token) { token_ = std::move(token); }

 private:
  Token token_;
};

}  // namespace tw
