// TilePipeline: a ring of stages between roles that load and roles that read.
//
// produce() and consume() wait, take the slot and step; the token they return signals that slot
// when it dies. Nobody arrives, expects or steps by hand.
#pragma once

#include <utility>

#include "tilewright/base/annotate.h"
#include "tilewright/io/cluster.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/sreg.h"
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

  // By one thread, before the CTAs of the cluster meet.
  static TW_DEVICE void init(Barriers& barriers, Tiles* tiles) {
    Signal::template init<Ring>(barriers);
    for (unsigned stage = 0; stage < stages; ++stage) {
      isa::describe_shared(isa::shared_address(&tiles[stage]), sizeof(Tiles), Payload::name, stage);
    }
  }
};

}  // namespace tw
