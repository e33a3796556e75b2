// TileOp of waves that take turns: a wave's part of a stage in four products of halves, half of its
// rows by half of its columns. A half of an operand is read once and multiplied by both halves of
// the other one, so that a step reads one half, and its loads may be halves as well.
#pragma once

#include "tilewright/accumulator/wave.h"
#include "tilewright/op/mfma_operands.h"
#include "tilewright/op/wave_grid.h"

namespace tw {

template <Tiling tiling, WarpGrid waves, unsigned stage_bytes, Cdna generation>
class MfmaHalvesOp : public WaveGrid<tiling, waves, stage_bytes> {
  using Base = WaveGrid<tiling, waves, stage_bytes>;
  using Base::column_;
  using Base::columns;
  using Base::lane_;
  using Base::row_;
  using Base::rows;
  using Base::stages_;
  using typename Base::Tensors;
  using Operands = MfmaOperands<tiling, generation, false>;
  static constexpr MfmaShape shape = Operands::shape;
  static_assert(rows % 64 == 0 && columns % 32 == 0, "A wave multiplies halves of 32 by 16.");
  static_assert(tiling.spans == 1 && !Operands::transposes,
                "Halves are read and loaded by lines: operands are K-major, of one span.");
  // All k of a stage.
  using Fragment = typename Operands::template Fragment<Operands::span_reads>;

 public:
  using Accumulator = WaveAccumulator<rows / 32, columns, waves.n, isa::MfmaSum<shape>>;
  // The first half of A's tile is so many lines from each 2 * a_lines on, the second those behind
  // them; B's halves likewise.
  static constexpr unsigned a_lines = rows / 2, b_lines = columns / 2;

  TW_DEVICE MfmaHalvesOp(const Tensors& stages, unsigned /*first_row*/, unsigned thread)
      : Base(stages, thread) {}

  // A wave holds one half of A and both of B.
  struct Fragments {
    Fragment a[rows / 32];
    Fragment b[2][columns / 32];
  };

  // Reads are on their way: the program waits for them.
  template <unsigned half>
  TW_DEVICE void read_a(Fragments& fragments, unsigned slot) const {
    Operands::template read<true, Major::K, half * a_lines>(fragments.a, stages_.a, row_, 0, slot,
                                                            lane_);
  }
  template <unsigned half>
  TW_DEVICE void read_b(Fragments& fragments, unsigned slot) const {
    Operands::template read<true, Major::K, half * b_lines>(fragments.b[half], stages_.b, column_,
                                                            0, slot, lane_);
  }
  template <unsigned a_half, unsigned b_half>
  TW_DEVICE void multiply(Accumulator& sum, const Fragments& fragments) const {
    TW_UNROLL
    for (unsigned column = 0; column < columns / 32; ++column) {
      TW_UNROLL
      for (unsigned product = 0; product < Fragment::products; ++product) {
        TW_UNROLL
        for (unsigned row = 0; row < rows / 32; ++row) {
          isa::mfma<shape>(sum.fragment(a_half * rows / 32 + row, b_half * columns / 32 + column),
                           fragments.b[b_half][column].product(product),
                           fragments.a[row].product(product));
        }
      }
    }
  }
  TW_DEVICE void finish(Accumulator&) const {}

 protected:
  // All products of one place of a half by one of the other.
  template <unsigned b_half>
  static TW_DEVICE void multiply_one(typename Accumulator::Value (&sum)[4],
                                     const Fragments& fragments, unsigned row, unsigned column) {
    TW_UNROLL
    for (unsigned product = 0; product < Fragment::products; ++product) {
      isa::mfma<shape>(sum, fragments.b[b_half][column].product(product),
                       fragments.a[row].product(product));
    }
  }
};

}  // namespace tw
