// Sums that are made in parts by CTAs that run at once: the last parts finish a share of the tile
// each, so that what lies in the workspace is read by as many CTAs.
#pragma once

#include "tilewright/schedule/reduction.h"

namespace tw {

// A sum of which this CTA finishes some chunks of columns.
template <class Sum>
struct SharedSums : SumsLike<Sum> {
  using Value = typename Sum::Value;
  const Sum& own;
  // Beside the own sums there are registers for so many.
  PartsInFlight<Value, (Sum::blocks * Sum::columns > 192 ? 32 : 64)> others;
  unsigned finishers;
  unsigned share;
  TW_DEVICE bool finishes(unsigned chunk) const { return (chunk & (finishers - 1)) == share; }
  // This thread's own part.
  TW_DEVICE Value value(unsigned block, unsigned i) const { return own.value(block, i); }
};

// The last part has share 0, the one before it share 1, and so on; each has a counter. A chunk is
// `chunk_values` of each thread.
template <unsigned group_warps, unsigned warps, unsigned values, unsigned lanes,
          unsigned chunk_values>
class SharedFinish : WorkspaceReduction<group_warps, warps, values, lanes> {
  using Base = WorkspaceReduction<group_warps, warps, values, lanes>;
  using Base::lane_;

 public:
  using Base::counter_bytes;
  using Base::drain;
  using Base::in_parts;
  static constexpr bool in_shares = true;
  using Base::init;
  using Base::part_bytes;
  using typename Base::Storage;
  struct Params : Base::Params {
    unsigned finishers;  // CTAs that finish a tile: a power of two, no more than it has parts
  };

  TW_DEVICE SharedFinish(const Params& params, Storage& storage, unsigned group, unsigned thread)
      : Base(params, storage, group, thread), finishers_(params.finishers) {}

  TW_DEVICE bool finishes(const WorkTile& tile) const { return share_of(tile) < finishers_; }

  // What others finish.
  template <class Sum>
  TW_DEVICE void deposit(const Sum& sum, const WorkTile& tile) {
    const unsigned share = share_of(tile);
    this->write(sum, tile,
                [&](unsigned v) { return (v / chunk_values & (finishers_ - 1)) != share; });
    isa::warp_sync();
    if (lane_ < finishers_ && lane_ != share) isa::global_add_release(counter(tile, lane_), 1);
  }

  // Waits for the other parts.
  template <class Sum>
  TW_DEVICE SharedSums<Sum> collect(const Sum& sum, const WorkTile& tile) {
    using Value = typename Sum::Value;
    const unsigned share = share_of(tile);
    if (tile.parts > 1) {
      if (lane_ == 0) {
        isa::global_wait_at_least(counter(tile, share), static_cast<unsigned>(tile.parts - 1));
        isa::global_store_release(counter(tile, share), 0);
      }
      isa::warp_sync();
    }
    return {
        {},
        sum,
        {this->template first_of<Value>(tile), this->part_stride(tile), tile.parts - 1, tile.part},
        finishers_,
        share};
  }

 private:
  static TW_DEVICE unsigned share_of(const WorkTile& tile) {
    return static_cast<unsigned>(tile.parts - 1 - tile.part);
  }
  // A tile has as many counters as parts.
  TW_DEVICE std::uint32_t* counter(const WorkTile& tile, unsigned share) const {
    return Base::counter(tile) + share * warps;
  }

  unsigned finishers_;
};

}  // namespace tw
