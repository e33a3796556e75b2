// Channels that fill no k-tile: those that are not there are neither loaded nor multiplied. K-tiles
// of a filter position have equally many channels, in whole products of 32 bytes.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/bind/recipe.h"
#include "tilewright/isa/ptx/wgmma.h"
#include "tilewright/kernel/warp_specialized.h"
#include "tilewright/pipeline/given_bytes.h"

namespace tw {

// Nobody brings anything beside A and B; but who multiplies is told how many channels there are.
struct ChannelCounts : NoScales {
  struct Params {
    unsigned tiles;  // k-tiles of a filter position, or of a line of positions
    unsigned each;   // products along k that each of them takes
    unsigned last;   // the same of the last one: there are no other channels
  };
};

// The payload of rings whose copies bring as many channels as there are.
template <class Whole>
struct NarrowPayload : Whole {
  using Announces = GivenBytes;
};

// A TileOp that issues a stage as `groups` of products, up to `most` along k. It counts k-tiles:
// every sum has those of whole positions.
template <class Issuer, unsigned most, unsigned groups>
class ChannelOp : public Issuer {
 public:
  using Issuer::Issuer;

  TW_DEVICE void count(const ChannelCounts::Params& counts) {
    counts_ = counts;
    left_ = counts.tiles;
  }

  // Issues the products of one stage and waits for those of the stage before.
  template <class Sum, StageToRead Stage>
  TW_DEVICE void multiply(Sum& sum, const Stage& stage) {
    const bool is_last = --left_ == 0;
    if (is_last) left_ = counts_.tiles;
    issue_some<most>(sum, stage, is_last ? counts_.last : counts_.each);
    isa::wgmma_wait_group<groups * Issuer::stages_held>();
  }

 private:
  template <unsigned count, class Sum, class Stage>
  TW_DEVICE void issue_some(Sum& sum, const Stage& stage, unsigned wanted) {
    if constexpr (count > 1) {
      if (wanted < count) return issue_some<count - 1>(sum, stage, wanted);
    }
    Issuer::template issue<count>(sum, stage);
  }

  ChannelCounts::Params counts_;
  unsigned left_;  // k-tiles of the position
};

// The program of one product whose multiplying groups count k-tiles.
template <class Kernel>
struct ChannelProgram : kernel::OneProduct<Kernel> {
  using Base = kernel::OneProduct<Kernel>;
  struct Multiplies : Base::Multiplies {
    TW_DEVICE Multiplies(const ChannelCounts::Params& counts, typename Base::Signals& signals,
                         typename Base::Stages& stages, unsigned group, unsigned thread,
                         typename Base::Trace trace)
        : Base::Multiplies(counts, signals, stages, group, thread, trace) {
      this->op_.count(counts);
    }
  };
};

}  // namespace tw
