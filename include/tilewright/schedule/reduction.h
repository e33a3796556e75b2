// Sums that are made in parts: those who do not finish a tile leave their part in the workspace,
// and who does adds the parts in their order, whatever the order in which they came.
#pragma once

#include <limits>
#include <type_traits>

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/base/annotate.h"
#include "tilewright/isa/counter.h"
#include "tilewright/isa/threads.h"
#include "tilewright/layout/access.h"
#include "tilewright/layout/element.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

// Where one thread's values of a part lie: by four, those of a warp side by side.
template <class Value>
struct PartValues {
  using Four = Vector<Value, 4>;
  Four* first;
  std::int64_t part_stride;  // from one part of the tile to the next, in fours
  int parts;                 // that are not this thread's own
  // The sum of the other parts of `count` values from v on: all loads of a part are on their way
  // before the first is waited for.
  template <unsigned count>
  TW_DEVICE void sum(Value (&sums)[count], unsigned v) const {
    load(sums, first, v);
    TW_ROLL  // stands once for every fragment
        for (int part = 1; part < parts; ++part) {
      const Four* const from = first + part * part_stride;
      Value more[count];
      load(more, from, v);
      TW_UNROLL
      for (unsigned i = 0; i < count; ++i) sums[i] += more[i];
    }
  }

 private:
  template <unsigned count>
  static TW_DEVICE void load(Value (&values)[count], const Four* from, unsigned v) {
    static_assert(count % 4 == 0, "Values lie by four.");
    Four fours[count / 4];
    TW_UNROLL
    for (unsigned i = 0; i < count / 4; ++i) {
      fours[i] = load_element<Space::Global>(from + (v / 4 + i) * isa::warp_lanes());
    }
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) values[i] = fours[i / 4].get(i % 4);
  }
};

// The same where registers are free: up to `in_flight` values are on their way at once, for a part
// is a trip to the L2.
template <class Value, unsigned in_flight>
struct PartsInFlight {
  using Four = Vector<Value, 4>;
  const Four* first;
  std::int64_t part_stride;                   // from one part of the tile to the next, in fours
  int parts;                                  // without the own one
  int own = std::numeric_limits<int>::max();  // which is skipped; the last needs no skipping

  // Adds up `count` values from v on, over the parts in their order.
  template <unsigned count>
  TW_DEVICE void sum(Value (&sums)[count], unsigned v) const {
    static_assert(count % 4 == 0, "Values lie by four.");
    constexpr int at_once = count < in_flight ? in_flight / count : 1;
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) sums[i] = Value{};
    TW_ROLL
    for (int begin = 0; begin < parts; begin += at_once) {
      Four fours[at_once][count / 4];
      TW_UNROLL
      for (int i = 0; i < at_once; ++i) {
        if (begin + i >= parts) continue;
        const int part = begin + i + (begin + i >= own ? 1 : 0);
        const Four* const from = first + part * part_stride;
        TW_UNROLL
        for (unsigned four = 0; four < count / 4; ++four) {
          fours[i][four] = load_element<Space::Global>(from + (v / 4 + four) * isa::warp_lanes());
        }
      }
      TW_UNROLL
      for (int i = 0; i < at_once; ++i) {
        if (begin + i >= parts) continue;
        TW_UNROLL
        for (unsigned j = 0; j < count; ++j) sums[j] += fours[i][j / 4].get(j % 4);
      }
    }
  }
};

// Sums of which a thread holds few.
template <class Sum>
constexpr bool is_small = Sum::blocks* Sum::columns <= 64;

// A sum and the parts of it that others made: read like any sum.
template <class Sum, FragmentLayout = Sum::layout>
struct CollectedSums : SumsLike<Sum> {
  using Value = typename Sum::Value;
  const Sum& own;
  std::conditional_t<is_small<Sum>, PartsInFlight<Value, 64>, PartValues<Value>> others;
  // This thread's own part.
  TW_DEVICE Value value(unsigned block, unsigned i) const { return own.value(block, i); }
};

template <class Sum>
struct CollectedSums<Sum, FragmentLayout::Row> : SumsLike<Sum> {
  using Value = typename Sum::Value;
  static constexpr bool in_registers = tw::in_registers<Sum>;
  const Sum& own;
  PartValues<Value> others;
  TW_DEVICE void load(int first_column, Value (&values)[32]) const {
    own.load(first_column, values);
    if (others.parts == 0) return;
    Value sums[32];
    others.sum(sums, static_cast<unsigned>(first_column));
    TW_UNROLL
    for (unsigned i = 0; i < 32; ++i) values[i] = sums[i] + values[i];
  }
};

// Through a workspace in global memory. Each of a CTA's `warps` that hold sums leaves and collects
// its own part: no barrier wider than a warp of so many `lanes`. `values` of a part, by each
// thread.
template <unsigned group_warps, unsigned warps, unsigned values, unsigned lanes>
class WorkspaceReduction {
 public:
  static constexpr bool in_parts = true;
  static constexpr bool in_shares = false;
  struct Params {
    std::uint32_t* counters;  // (warp, slot): 0 before the launch, and again after it
    void* parts;              // (value % 4, lane, value / 4, warp, slot)
  };
  struct Storage {};
  static TW_DEVICE void init(Storage&) {}
  static constexpr std::size_t counter_bytes(std::size_t slots) { return slots * warps * 4; }
  static constexpr std::size_t part_bytes(std::size_t slots) {
    return slots * warps * values * lanes * 4;
  }

  TW_DEVICE WorkspaceReduction(const Params& params, Storage&, unsigned group, unsigned thread)
      : params_(params), warp_(group * group_warps + thread / lanes), lane_(thread % lanes) {}

  template <class Sum>
  TW_DEVICE void deposit(const Sum& sum, const WorkTile& tile) {
    write(sum, tile, [](unsigned) { return true; });
    isa::warp_sync();
    if (lane_ == 0) isa::global_add_release(counter(tile), 1);
  }

  TW_DEVICE void drain() {}

  // Waits for the other parts.
  template <class Sum>
  TW_DEVICE CollectedSums<Sum> collect(const Sum& sum, const WorkTile& tile) {
    using Value = typename Sum::Value;
    if (tile.parts > 1) {
      if (lane_ == 0) {
        isa::global_wait_at_least(counter(tile), static_cast<unsigned>(tile.parts - 1));
        isa::global_store_release(counter(tile), 0);
      }
      isa::warp_sync();
    }
    return {{}, sum, {first_of<Value>(tile), part_stride(tile), tile.parts - 1}};
  }

 protected:
  // A part, into its slot: four values from v on where leaves(v).
  template <class Sum, class Leaves>
  TW_DEVICE void write(const Sum& sum, const WorkTile& tile, const Leaves& leaves) const {
    using Value = typename Sum::Value;
    auto* const to = first_of<Value>(tile) + tile.part * part_stride(tile);
    const auto leave = [&](unsigned v, Value a, Value b, Value c, Value d) {
      if (!leaves(v)) return;
      store_element<Space::Global>(to + v / 4 * lanes, Vector<Value, 4>{{a, b, c, d}});
    };
    if constexpr (Sum::layout == FragmentLayout::Row) {
      TW_UNROLL
      for (unsigned first = 0; first < Sum::columns; first += 32) {
        Value row[32];
        sum.load(static_cast<int>(first), row);
        TW_UNROLL
        for (unsigned i = 0; i < 32; i += 4) {
          leave(first + i, row[i], row[i + 1], row[i + 2], row[i + 3]);
        }
      }
    } else {
      TW_UNROLL
      for (unsigned block = 0; block < Sum::blocks; ++block) {
        TW_UNROLL
        for (unsigned i = 0; i < Sum::columns / 2; i += 4) {
          leave(block * (Sum::columns / 2) + i, sum.value(block, i), sum.value(block, i + 1),
                sum.value(block, i + 2), sum.value(block, i + 3));
        }
      }
    }
  }

  static_assert(values % 4 == 0, "Values lie by four.");
  static constexpr std::int64_t slot_fours = std::int64_t{warps} * (values / 4) * lanes;
  static TW_DEVICE std::int64_t part_stride(const WorkTile& tile) {
    return tile.slot_stride * slot_fours;
  }
  template <class Value>
  TW_DEVICE Vector<Value, 4>* first_of(const WorkTile& tile) const {
    return static_cast<Vector<Value, 4>*>(params_.parts) + tile.slot * slot_fours +
           std::int64_t{warp_} * (values / 4) * lanes + lane_;
  }
  TW_DEVICE std::uint32_t* counter(const WorkTile& tile) const {
    return params_.counters + std::int64_t{tile.slot} * warps + warp_;
  }

  const Params& params_;
  unsigned warp_;
  unsigned lane_;
};

}  // namespace tw
