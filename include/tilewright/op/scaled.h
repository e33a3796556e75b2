// TileOp with scales: the products of one stage are a partial sum of the tensor core's, which joins
// the sums in float32, each value times its row's and its column's scale.
#pragma once

#include <bit>
#include <utility>

#include "tilewright/base/annotate.h"
#include "tilewright/io/tiling.h"
#include "tilewright/isa/ptx/shared_memory.h"
#include "tilewright/pipeline/payload.h"

namespace tw {

TW_DEVICE float load_scale(SharedAddress address) {
  return std::bit_cast<float>(isa::load_shared_4(address));
}

// Those of one thread's values: of two rows in each block, and of columns that share them in groups
// of `group`, or have their own.
template <class Sum, unsigned group>
class ThreadScales {
  static constexpr bool own = group == 1;
  static_assert(own || Sum::columns % group == 0 || group % Sum::columns == 0,
                "A warp's columns are whole groups that share a scale, or lie within one.");
  // Of eight columns a thread has two.
  static constexpr unsigned count = own ? Sum::columns / 4 : (Sum::columns + group - 1) / group;

 public:
  // The scales of the thread's first row and column.
  TW_DEVICE ThreadScales(SharedAddress row, SharedAddress column) {
    TW_UNROLL
    for (unsigned i = 0; i < 2 * Sum::blocks; ++i) {
      rows_[i] = load_scale(row + (i / 2 * Sum::block_rows + i % 2 * 8) * 4);
    }
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) {
      columns_[i] = load_scale(column + (own ? i / 2 * 8 + i % 2 : i) * 4);
    }
  }
  // Of value i of a block.
  TW_DEVICE float operator()(unsigned block, unsigned i) const {
    return rows_[2 * block + i / 2 % 2] * columns_[own ? i / 4 * 2 + i % 2 : i / 4 * 8 / group];
  }

 private:
  float rows_[2 * Sum::blocks];
  float columns_[count];
};

// `Base` multiplies; `Side` says how the scales lie behind the operands of a stage.
template <class Base, class Side, Tiling tiling, unsigned stage_bytes>
class ScaledOp : public Base {
  using Partial = typename Base::Accumulator;

 public:
  struct Accumulator : Partial {
    TW_DEVICE Accumulator() { this->clear(); }
    Partial partial;
  };
  static_assert(2 * Partial::blocks * Partial::fragment_size <= 192,
                "The sums and the partial sums of a thread must fit 192 registers.");
  // Every warp reads scales, so that every warp lets go of the stage, when its products are done.
  static constexpr Release release = Release::Warp;
  static constexpr unsigned releases = 4;  // of each group
  static constexpr unsigned stages_held = 0;
  static TW_DEVICE unsigned speaker(unsigned thread) { return thread % 32; }

  TW_DEVICE ScaledOp(SharedAddress first_stage, unsigned first_row, unsigned thread)
      : Base(first_stage, first_row, thread),
        row_(first_stage + tiling.a_bytes() + tiling.b_bytes() +
             (first_row + Partial::row_of(thread, 0)) * 4),
        column_(first_stage + tiling.a_bytes() + tiling.b_bytes() +
                (tiling.m + Partial::column_of(thread, 0) / Side::b_columns) * 4) {}

  template <class Stage>
  TW_DEVICE void multiply(Accumulator& sum, Stage& stage) {
    Base::multiply(sum.partial, stage);
    // Read while the tensor core works.
    const unsigned at = stage.slot() * stage_bytes;
    const ThreadScales<Partial, Side::b_columns> scales(row_ + at, column_ + at);
    Base::finish(sum.partial);
    { const Stage released = std::move(stage); }
    sum.add(sum.partial, scales);
    sum.partial.start_over();
  }
  TW_DEVICE void finish(Accumulator&) {}

 private:
  SharedAddress row_;  // this thread's first scales, in the first stage
  SharedAddress column_;
};

}  // namespace tw
