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
// A row has a scale, and each `group` of columns. Of eight columns that share none, a thread has
// two. `Scales` are the tensors of a ring: a_scales (m,stage) and b_scales (n / group,stage).
template <class Whole, unsigned group, class Scales>
class ScaledOp {
  using Base = typename Whole::Piece;
  using Sum = typename Whole::Accumulator;
  using Partial = typename Base::Accumulator;
  static constexpr unsigned pieces_n = Sum::columns / Partial::columns;
  static constexpr unsigned pieces = Sum::blocks / Partial::blocks * pieces_n;
  // Two where the registers suffice: one is made while the other joins the sums.
  static constexpr unsigned registers(unsigned partials) {
    return Sum::blocks * Sum::fragment_size + partials * Partial::blocks * Partial::fragment_size;
  }
  static constexpr unsigned partials = pieces_n == 1 || registers(2) > 192 ? 1 : 2;
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
  static constexpr unsigned releases = 4;  // of each group
  static constexpr unsigned stages_held = 0;
  static TW_DEVICE unsigned speaker(unsigned thread) { return thread % 32; }

  template <class Stages>
  TW_DEVICE ScaledOp(const Stages& stages, unsigned first_row, unsigned thread)
      : base_(stages, first_row, thread),
        a_scales_(stages.a_scales.template from<1>(first_row + Partial::row_of(thread, 0))),
        to_b_scales_(Scales::distance(first_row + Partial::row_of(thread, 0),
                                      Partial::column_of(thread, 0) / group)) {}

  template <StageToRead Stage>
  TW_DEVICE void multiply(Accumulator& sum, Stage& stage) {
    const auto scales = a_scales_.slice(whole, stage.slot());
    TW_UNROLL
    for (unsigned piece = 0; piece < pieces; ++piece) {
      base_.issue(sum.partial[piece % partials], stage, row_of(piece), column_of(piece));
      if (partials > 1 && piece > 0) add<1>(sum, piece - 1, scales, [] {});
      if (partials == 1 && piece + 1 < pieces) add<0>(sum, piece, scales, [] {});
    }
    add<0>(sum, pieces - 1, scales, [&] { const Stage released = std::move(stage); });
  }
  TW_DEVICE void finish(Accumulator&) {}

 private:
  static constexpr unsigned row_of(unsigned piece) {
    return piece / pieces_n * (Partial::blocks * Partial::block_rows);
  }
  static constexpr unsigned column_of(unsigned piece) {
    return piece % pieces_n * Partial::columns;
  }

  // From this thread's first row and first column on.
  static constexpr Layout stage_a = mode(Scales::A::tensor_layout(), 0);
  static constexpr Layout stage_b = mode(Scales::B::tensor_layout(), 0);
  using StageA = SharedTile<float, stage_a>;
  using StageB = SharedTile<float, stage_b>;

  // A piece whose products are done when no more than `issued` pieces behind it are not.
  template <unsigned issued, class Release>
  TW_DEVICE void add(Accumulator& sum, unsigned piece, const StageA& a_scales,
                     const Release& release) const {
    Partial& partial = sum.partial[piece % partials];
    constexpr unsigned most = group == 1 ? Partial::columns / 4 : Partial::columns / group + 2;
    const unsigned first = column_of(piece) / group;
    const unsigned columns =
        group == 1 ? most : (column_of(piece) + Partial::columns - 1) / group - first + 1;
    float rows[2 * Partial::blocks], shared[most];
    TW_UNROLL
    for (unsigned i = 0; i < 2 * Partial::blocks; ++i) {
      rows[i] = scale(a_scales, row_of(piece) + i / 2 * Partial::block_rows + i % 2 * 8);
    }
    const auto b_scales = a_scales.template at_distance<StageB>(to_b_scales_);
    TW_UNROLL
    for (unsigned i = 0; i < columns; ++i) {
      shared[i] = scale(b_scales, first + (group == 1 ? i / 2 * 8 + i % 2 : i));
    }
    base_.template wait<issued>(partial);
    release();
    sum.add(row_of(piece) / Partial::block_rows, column_of(piece), partial,
            [&](unsigned block, unsigned i) {
              const unsigned column =
                  group == 1 ? i / 4 * 2 + i % 2 : (column_of(piece) + i / 4 * 8) / group - first;
              return rows[2 * block + i / 2 % 2] * shared[column];
            });
    partial.start_over();
  }
  template <class Tensor>
  static TW_DEVICE float scale(const Tensor& scales, unsigned index) {
    return std::bit_cast<float>(isa::load_shared_4(scales.address(index)));
  }

  Base base_;
  typename Scales::A a_scales_;  // (m,stage), from this thread's first row on
  std::uint32_t to_b_scales_;    // of its first column
};

}  // namespace tw
