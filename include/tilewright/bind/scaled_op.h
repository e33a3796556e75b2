// TileOp with scales: the products of one stage are a partial sum of the tensor core's, which joins
// the sums in float32, each value times its row's and its column's scale.
#pragma once

#include <bit>
#include <utility>

#include "tilewright/base/annotate.h"
#include "tilewright/io/scale_loader.h"
#include "tilewright/isa/shared_memory.h"
#include "tilewright/pipeline/payload.h"

namespace tw {

// `Whole` sums up what a group does, its Piece multiplies a piece of it. Halves of columns have
// partial sums of their own, so that the tensor core makes one while the other joins the sums.
// Each `row_step` of rows have a scale, one or 64 of them, and each `group` of columns. Of eight
// columns that share none, a thread has two. `Scales` are the tensors of a ring: a_scales
// (m / row_step,stage), which rows may not have, and b_scales (n / group,stage).
template <class Whole, unsigned group, class Scales, unsigned row_step = 1>
class ScaledOp {
  using Base = typename Whole::Piece;
  using Sum = typename Whole::Accumulator;
  using Partial = typename Base::Accumulator;
  static constexpr unsigned pieces_n = Sum::columns / Partial::columns;
  static constexpr unsigned pieces = Sum::blocks / Partial::blocks * pieces_n;
  // Two partial accumulators if registers allow, so that one is computed while the other is scaled
  // into the sum.
  static constexpr unsigned registers(unsigned partials) {
    return Sum::blocks * Sum::fragment_size + partials * Partial::blocks * Partial::fragment_size;
  }
  static constexpr bool in_flight = Base::stages_held > 0;  // products that were issued
  static constexpr unsigned partials = (pieces_n == 1 && !in_flight) || registers(2) > 192 ? 1 : 2;
  static_assert(pieces_n <= 2 && registers(partials) <= 192,
                "The sums and the partial sums of a thread must fit 192 registers.");

 public:
  struct Accumulator : Sum {
    TW_DEVICE Accumulator() { this->clear(); }
    Partial partial[partials];
  };
  static constexpr bool elected = false;
  static TW_DEVICE bool leads() { return true; }
  // Every warp reads scales, so that every warp lets go of the stage, when its products are done.
  static constexpr Release release = Release::Warp;
  static constexpr unsigned releases = 4;  // arrivals by each group
  static constexpr unsigned stages_held = 0;
  static TW_DEVICE unsigned speaker(unsigned thread) { return thread % 32; }

  template <class Stages>
  TW_DEVICE ScaledOp(const Stages& stages, unsigned first_row, unsigned thread)
      : base_(stages, first_row, thread),
        a_scales_(
            stages.a_scales.template from<1>((first_row + Partial::row_of(thread, 0)) / row_step)),
        to_b_scales_(Scales::distance(first_row + Partial::row_of(thread, 0),
                                      Partial::column_of(thread, 0))) {}

  template <StageToRead Stage>
  TW_DEVICE void multiply(Accumulator& sum, Stage& stage) {
    multiply_stages<1>(sum, stage, [] { return Stage(); });
  }
  // The same of two stages, of which `next` waits for the second: the tensor core works on that one
  // while the first joins the sums. (Were it to begin with a stage before the loop comes to it,
  // ptxas would let products wait for each other.)
  static constexpr bool takes_two = in_flight && partials > 1;
  template <StageToRead Stage, class Next>
  TW_DEVICE void multiply(Accumulator& sum, Stage& first, const Next& next) requires(takes_two) {
    multiply_stages<2>(sum, first, next);
  }
  TW_DEVICE void finish(Accumulator&) {}

 private:
  static constexpr unsigned row_of(unsigned piece) {
    return piece / pieces_n * (Partial::blocks * Partial::block_rows);
  }
  static constexpr unsigned column_of(unsigned piece) {
    return piece % pieces_n * Partial::columns;
  }

  static constexpr unsigned row_scales = row_step == 1 ? 2 : 1;  // for a thread's rows of a block
  // From this thread's first row and first column on.
  static constexpr Layout stage_a = mode(Scales::A::tensor_layout(), 0);
  static constexpr Layout stage_b = mode(Scales::B::tensor_layout(), 0);
  using StageA = SharedTile<float, stage_a>;
  using StageB = SharedTile<float, stage_b>;

  template <unsigned count, class Stage, class Next>
  TW_DEVICE void multiply_stages(Accumulator& sum, Stage& first, const Next& next) {
    constexpr unsigned last = count * pieces - 1;
    Stage second;
    TW_UNROLL
    for (unsigned i = 0; i <= last; ++i) {
      if (i == pieces) second = next();
      base_.issue(sum.partial[i % partials], i < pieces ? first : second, row_of(i % pieces),
                  column_of(i % pieces));
      if (partials > 1 && i > 0) add<1>(sum, i - 1, i <= pieces ? first : second);
      if (partials == 1 && i != last) add<0>(sum, i, first);
    }
    add<0>(sum, last, count == 1 ? first : second);
  }
  // Piece i of all, whose products are done when no more than `issued` pieces behind it are not.
  // The last one of a stage lets go of it.
  template <unsigned issued, class Stage>
  TW_DEVICE void add(Accumulator& sum, unsigned i, Stage& stage) {
    const unsigned piece = i % pieces;
    Partial& partial = sum.partial[i % partials];
    const auto a_scales = a_scales_.slice(whole, stage.slot());
    constexpr unsigned most = group == 1 ? Partial::columns / 4 : Partial::columns / group + 2;
    const unsigned first = column_of(piece) / group;
    const unsigned columns =
        group == 1 ? most : (column_of(piece) + Partial::columns - 1) / group - first + 1;
    float rows[row_scales * Partial::blocks], shared[most];
    TW_UNROLL
    for (unsigned j = 0; j < row_scales * Partial::blocks; ++j) {
      const unsigned row = j / row_scales * Partial::block_rows + j % row_scales * 8;
      if constexpr (Scales::has_rows) rows[j] = scale(a_scales, (row_of(piece) + row) / row_step);
    }
    const auto b_scales = a_scales.template at_distance<StageB>(to_b_scales_);
    TW_UNROLL
    for (unsigned j = 0; j < columns; j += group == 1 ? 2 : 1) {
      if constexpr (group == 1) {
        std::uint32_t two[2];
        isa::load_shared_8(two, b_scales.address(first + j / 2 * 8));
        shared[j] = std::bit_cast<float>(two[0]), shared[j + 1] = std::bit_cast<float>(two[1]);
      } else {
        shared[j] = scale(b_scales, first + j);
      }
    }
    base_.template wait<issued>(partial);
    if (piece + 1 == pieces) const Stage released = std::move(stage);
    sum.add(row_of(piece) / Partial::block_rows, column_of(piece), partial,
            [&](unsigned block, unsigned j) {
              const unsigned column =
                  group == 1 ? j / 4 * 2 + j % 2 : (column_of(piece) + j / 4 * 8) / group - first;
              if constexpr (!Scales::has_rows)
                return shared[column];
              else
                return rows[row_scales * block + j / 2 % row_scales] * shared[column];
            });
    partial.start_over();
  }
  template <class Tensor>
  static TW_DEVICE float scale(const Tensor& scales, unsigned index) {
    return std::bit_cast<float>(isa::load_shared_4(scales.address(index)));
  }

  Base base_;
  typename Scales::A a_scales_;  // (m,stage), from this thread's first row on
  std::uint32_t to_b_scales_;    // from there to the scale of its first column
};

}  // namespace tw
