// Sums of a tile whose groups share k: the first group adds up what all groups have.
#pragma once

#include "tilewright/pipeline/group_parts.h"
#include "tilewright/schedule/reduction.h"

namespace tw {

// The sums of all groups, and the parts that other CTAs made.
template <class Sum>
struct JoinedSums : SumsLike<Sum> {
  using Value = typename Sum::Value;
  TotalSums<Sum> own;
  PartsInFlight<Value, 16> others;  // for more, four groups have no registers
  TW_DEVICE Value value(unsigned block, unsigned i) const { return own.value(block, i); }
};

// `groups` of `warps`, with `values` of a sum in each thread. What the first group then has goes
// through `Next`, which adds up what CTAs make in parts, or nothing.
template <unsigned groups, unsigned warps, unsigned values, class Next>
class GroupReduction {
  using Parts = GroupParts<groups, warps * 32, values>;

 public:
  static constexpr bool in_parts = true;
  static constexpr bool in_shares = true;  // the first group finishes whole tiles, others nothing
  using Params = typename Next::Params;
  struct Storage {
    typename Parts::Storage parts;
    typename Next::Storage next;
  };
  static TW_DEVICE void init(Storage& storage) {
    Parts::init(storage.parts);
    Next::init(storage.next);
  }
  static constexpr std::size_t counter_bytes(std::size_t slots) {
    return Next::counter_bytes(slots);
  }
  static constexpr std::size_t part_bytes(std::size_t slots) { return Next::part_bytes(slots); }

  TW_DEVICE GroupReduction(const Params& params, Storage& storage, unsigned group, unsigned thread)
      : parts_(storage.parts, group, thread), next_(params, storage.next, 0, thread) {}

  TW_DEVICE bool finishes(const WorkTile& tile) const {
    return parts_.is_first() && tile.finishes();
  }

  // Groups that finish nothing leave their sums, and the first one of a tile that it does not
  // finish.
  template <class Sum>
  TW_DEVICE void deposit(const Sum& sum, const WorkTile& tile) {
    if (finishes(tile)) return;
    TotalSums<Sum> total;
    add_up(total, sum);
    if constexpr (Next::in_parts) {
      if (parts_.is_first()) next_.deposit(total, tile);
    }
  }

  template <class Sum>
  TW_DEVICE auto collect(const Sum& sum, const WorkTile& tile) {
    TotalSums<Sum> total;
    add_up(total, sum);
    if constexpr (Next::in_parts) {
      const auto others = next_.collect(total, tile).others;
      return JoinedSums<Sum>{{}, total, {others.first, others.part_stride, others.parts}};
    } else {
      return total;
    }
  }

  TW_DEVICE void drain() { next_.drain(); }

 private:
  // The sums of all groups in the first; in the others, what they have.
  template <class Sum>
  TW_DEVICE void add_up(TotalSums<Sum>& total, const Sum& sum) {
    constexpr unsigned row = Sum::columns / 2;
    static_assert(Sum::blocks * row == values, "Groups exchange the sums of their threads.");
    TW_UNROLL
    for (unsigned i = 0; i < values; ++i) {
      total.values[i / row][i % row] = sum.value(i / row, i % row);
    }
    parts_.add_up(reinterpret_cast<typename Sum::Value(&)[values]>(total.values));
  }

  Parts parts_;
  Next next_;
};

}  // namespace tw
