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

// `Whole` sums up what a group does, `Base` multiplies the rows of a piece of it: a partial sum
// then takes no more registers than a piece. `Side` says how the scales lie behind the operands.
template <class Base, class Whole, class Side, Tiling tiling, unsigned stage_bytes>
class ScaledOp {
  using Sum = typename Whole::Accumulator;
  using Partial = typename Base::Accumulator;
  static constexpr unsigned pieces = Sum::blocks / Partial::blocks;
  static constexpr unsigned piece_rows = Partial::blocks * Partial::block_rows;
  // Columns that share a scale. Of eight that do not, a thread has two.
  static constexpr unsigned group = Side::b_columns;
  static constexpr unsigned columns =
      group == 1 ? Partial::columns / 4 : (Partial::columns + group - 1) / group;
  static_assert(group == 1 || Partial::columns % group == 0 || group % Partial::columns == 0,
                "A warp's columns are whole groups that share a scale, or lie within one.");
  static_assert((pieces + 1) * Partial::blocks * Partial::fragment_size <= 192,
                "The sums and the partial sums of a thread must fit 192 registers.");

 public:
  struct Accumulator : Sum {
    TW_DEVICE Accumulator() { this->clear(); }
    Partial partial;
  };
  static constexpr bool elected = false;
  static TW_DEVICE bool leads() { return true; }
  // Every warp reads scales, so that every warp lets go of the stage, when its products are done.
  static constexpr Release release = Release::Warp;
  static constexpr unsigned releases = 4;  // of each group
  static constexpr unsigned stages_held = 0;
  static TW_DEVICE unsigned speaker(unsigned thread) { return thread % 32; }

  TW_DEVICE ScaledOp(SharedAddress first_stage, unsigned first_row, unsigned thread)
      : base_(first_stage, first_row, thread),
        row_(first_stage + tiling.a_bytes() + tiling.b_bytes() +
             (first_row + Partial::row_of(thread, 0)) * 4),
        column_(first_stage + tiling.a_bytes() + tiling.b_bytes() +
                (tiling.m + Partial::column_of(thread, 0) / group) * 4) {}

  template <class Stage>
  TW_DEVICE void multiply(Accumulator& sum, Stage& stage) {
    const unsigned at = stage.slot() * stage_bytes;
    float rows[2 * Partial::blocks], shared[columns];
    TW_UNROLL
    for (unsigned i = 0; i < columns; ++i) {
      shared[i] = scale(column_ + at, group == 1 ? i / 2 * 8 + i % 2 : i);
    }
    TW_UNROLL
    for (unsigned piece = 0; piece < pieces; ++piece) {
      base_.multiply(sum.partial, stage, piece * piece_rows);
      // Read while the tensor core works.
      TW_UNROLL
      for (unsigned i = 0; i < 2 * Partial::blocks; ++i) {
        rows[i] = scale(row_ + at, piece * piece_rows + i / 2 * Partial::block_rows + i % 2 * 8);
      }
      base_.finish(sum.partial);
      if (piece + 1 == pieces) const Stage released = std::move(stage);
      sum.add(piece * Partial::blocks, sum.partial, [&](unsigned block, unsigned i) {
        return rows[2 * block + i / 2 % 2] *
               shared[group == 1 ? i / 4 * 2 + i % 2 : i / 4 * 8 / group];
      });
      sum.partial.start_over();
    }
  }
  TW_DEVICE void finish(Accumulator&) {}

 private:
  static TW_DEVICE float scale(SharedAddress first, unsigned index) {
    return std::bit_cast<float>(isa::load_shared_4(first + index * 4));
  }

  Base base_;
  SharedAddress row_;  // this thread's first scales, in the first stage
  SharedAddress column_;
};

}  // namespace tw
