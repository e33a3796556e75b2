// Sums that are made in parts: those who do not finish a tile leave their part in the workspace,
// and who does adds the parts in their order, whatever the order in which they came.
#pragma once

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/base/annotate.h"
#include "tilewright/isa/ptx/counter.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/layout/access.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

// Every sum is whole.
struct NoReduction {
  static constexpr bool in_parts = false;
  struct Params {};
  struct Storage {};
  static TW_DEVICE void init(Storage&) {}
  TW_DEVICE NoReduction(const Params&, Storage&, unsigned /*group*/, unsigned /*thread*/) {}
  TW_DEVICE void drain() {}
  template <class Sum>
  TW_DEVICE const Sum& collect(const Sum& sum, const WorkTile&) const {
    return sum;
  }
};

// Where one thread's values of a part lie: value v at first + v * 32, so that a warp's lie side by
// side.
template <class Value>
struct PartValues {
  Value* first;
  std::int64_t part_stride;  // from one part of the tile to the next
  int parts;                 // that are not this thread's own
  // The sum of the other parts of `count` values from v on: all loads of a part are on their way
  // before the first is waited for.
  template <unsigned count>
  TW_DEVICE void sum(Value (&sums)[count], unsigned v) const {
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) {
      sums[i] = load_element<Space::Global>(first + (v + i) * 32);
    }
    TW_ROLL  // stands once for every fragment
        for (int part = 1; part < parts; ++part) {
      const Value* const from = first + part * part_stride;
      Value more[count];
      TW_UNROLL
      for (unsigned i = 0; i < count; ++i) {
        more[i] = load_element<Space::Global>(from + (v + i) * 32);
      }
      TW_UNROLL
      for (unsigned i = 0; i < count; ++i) sums[i] += more[i];
    }
  }
};

// A sum and the parts of it that others made: read like any sum.
template <class Sum, FragmentLayout = Sum::layout>
struct CollectedSums {
  using Value = typename Sum::Value;
  static constexpr FragmentLayout layout = Sum::layout;
  static constexpr unsigned blocks = Sum::blocks;
  static constexpr unsigned block_rows = Sum::block_rows;
  static constexpr unsigned columns = Sum::columns;
  const Sum& own;
  PartValues<Value> others;
  // This thread's own part.
  TW_DEVICE Value value(unsigned block, unsigned i) const { return own.value(block, i); }
  static constexpr unsigned row_of(unsigned thread, unsigned i) { return Sum::row_of(thread, i); }
  static constexpr unsigned column_of(unsigned thread, unsigned i) {
    return Sum::column_of(thread, i);
  }
};

template <class Sum>
struct CollectedSums<Sum, FragmentLayout::Row> {
  using Value = typename Sum::Value;
  static constexpr FragmentLayout layout = Sum::layout;
  static constexpr unsigned blocks = Sum::blocks;
  static constexpr unsigned block_rows = Sum::block_rows;
  static constexpr unsigned columns = Sum::columns;
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
// its own part: no barrier wider than a warp. `values` of a part, by each thread.
template <unsigned group_warps, unsigned warps, unsigned values>
class WorkspaceReduction {
 public:
  static constexpr bool in_parts = true;
  struct Params {
    std::uint32_t* counters;  // (warp, slot): 0 before the launch, and again after it
    void* parts;              // (lane, value, warp, slot)
  };
  struct Storage {};
  static TW_DEVICE void init(Storage&) {}
  static constexpr std::size_t counter_bytes(std::size_t slots) { return slots * warps * 4; }
  static constexpr std::size_t part_bytes(std::size_t slots) {
    return slots * warps * values * 32 * 4;
  }

  TW_DEVICE WorkspaceReduction(const Params& params, Storage&, unsigned group, unsigned thread)
      : params_(params), warp_(group * group_warps + thread / 32), lane_(thread % 32) {}

  template <class Sum>
  TW_DEVICE void deposit(const Sum& sum, const WorkTile& tile) {
    using Value = typename Sum::Value;
    Value* to = first_of<Value>(tile) + tile.part * part_stride(tile);
    if constexpr (Sum::layout == FragmentLayout::Row) {
      TW_UNROLL
      for (unsigned first = 0; first < Sum::columns; first += 32) {
        Value row[32];
        sum.load(static_cast<int>(first), row);
        TW_UNROLL
        for (unsigned i = 0; i < 32; ++i) {
          store_element<Space::Global>(to + (first + i) * 32, row[i]);
        }
      }
    } else {
      TW_UNROLL
      for (unsigned block = 0; block < Sum::blocks; ++block) {
        TW_UNROLL
        for (unsigned i = 0; i < Sum::columns / 2; ++i) {
          const unsigned v = block * (Sum::columns / 2) + i;
          store_element<Space::Global>(to + v * 32, sum.value(block, i));
        }
      }
    }
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
    return {sum, {first_of<Value>(tile), part_stride(tile), tile.parts - 1}};
  }

 private:
  static constexpr std::int64_t slot_values = std::int64_t{warps} * values * 32;
  static TW_DEVICE std::int64_t part_stride(const WorkTile& tile) {
    return tile.slot_stride * slot_values;
  }
  template <class Value>
  TW_DEVICE Value* first_of(const WorkTile& tile) const {
    return static_cast<Value*>(params_.parts) + tile.slot * slot_values +
           std::int64_t{warp_} * values * 32 + lane_;
  }
  TW_DEVICE std::uint32_t* counter(const WorkTile& tile) const {
    return params_.counters + std::int64_t{tile.slot} * warps + warp_;
  }

  const Params& params_;
  unsigned warp_;
  unsigned lane_;
};

}  // namespace tw
