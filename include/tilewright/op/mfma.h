// TileOp of single waves, CDNA3 and later: fragments of one step are read while those of the step
// before are multiplied; products by mfma, sums in registers.
#pragma once

#include "tilewright/accumulator/wave.h"
#include "tilewright/number/fnuz.h"
#include "tilewright/op/mfma_operands.h"
#include "tilewright/op/wave_grid.h"

namespace tw {

template <Tiling tiling, WarpGrid waves, unsigned stage_bytes, Cdna generation,
          bool from_fnuz = false>
class MfmaOp : public WaveGrid<tiling, waves, stage_bytes> {
  using Base = WaveGrid<tiling, waves, stage_bytes>;
  using Base::column_;
  using Base::columns;
  using Base::lane_;
  using Base::row_;
  using Base::rows;
  using Base::stages_;
  using typename Base::Tensors;
  using Operands = MfmaOperands<tiling, generation, from_fnuz>;
  static constexpr MfmaShape shape = Operands::shape;
  static constexpr bool transposes = Operands::transposes;
  // A step is what the longest product takes, at least one read.
  static constexpr unsigned step_reads = Operands::product_bytes == 32 ? 2 : 1;
  using Fragment = typename Operands::template Fragment<step_reads>;
  static constexpr unsigned steps =
      tiling.spans * Operands::span_reads / step_reads;  // per stage

 public:
  using Accumulator = WaveAccumulator<rows / 32, columns, waves.n, isa::MfmaSum<shape>>;

  TW_DEVICE MfmaOp(const Tensors& stages, unsigned /*first_row*/, unsigned thread)
      : Base(stages, thread) {}

  template <StageToRead Stage>
  TW_DEVICE void multiply(Accumulator& sum, const Stage& stage) {
    static_assert(is_stage_of<Stage, Tensors>,
                  "The stage is of another ring than this TileOp was made for.");
    if (!sum.started()) sum.clear();
    const unsigned slot = stage.slot();
    // The reads of a step are on their way while the products of the one before are made.
    Fragments fragments[2];
    load(fragments[0], 0, slot);
    TW_UNROLL
    for (unsigned step = 0; step < steps; ++step) {
      const bool reads_on = step + 1 < steps;
      if (reads_on) load(fragments[(step + 1) % 2], step + 1, slot);
      isa::schedule_barrier();
      if constexpr (transposes) {
        if (reads_on) isa::s_waitcnt<isa::any_vmcnt, reads_in_flight>();
        if (!reads_on) isa::s_waitcnt<isa::any_vmcnt, 0>();
      }
      multiply_step(sum, fragments[step % 2]);
    }
  }
  TW_DEVICE void finish(Accumulator& sum) {
    if (!sum.started()) sum.clear();
    if constexpr (Operands::is_fnuz) sum.scale(e4m3_over_fnuz * e4m3_over_fnuz);
  }

 private:
  // The operands of one step.
  struct Fragments {
    Fragment a[rows / 16];
    Fragment b[columns / 16];
  };

  TW_DEVICE void multiply_step(Accumulator& sum, const Fragments& fragments) const {
    TW_UNROLL
    for (unsigned column = 0; column < columns / 16; ++column) {
      TW_UNROLL
      for (unsigned product = 0; product < Fragment::products; ++product) {
        TW_UNROLL
        for (unsigned row = 0; row < rows / 16; ++row) {
          isa::mfma<shape>(sum.fragment(row, column), fragments.b[column].product(product),
                           fragments.a[row].product(product));
        }
      }
    }
  }

  // A step is read while the one before is multiplied; lgkmcnt counts to 15.
  static constexpr unsigned instructions = rows / 16 * (tiling.a_major == Major::K ? 1 : 2) +
                                           columns / 16 * (tiling.b_major == Major::K ? 1 : 2);
  static constexpr unsigned reads_in_flight =
      instructions < isa::any_lgkmcnt ? instructions : isa::any_lgkmcnt - 1;

  TW_DEVICE void load(Fragments& fragments, unsigned step, unsigned slot) const {
    const unsigned read = step * step_reads;
    Operands::template read<transposes, tiling.a_major, 0>(fragments.a, stages_.a, row_, read, slot,
                                                           lane_);
    Operands::template read<transposes, tiling.b_major, 0>(fragments.b, stages_.b, column_, read,
                                                           slot, lane_);
  }
};

}  // namespace tw
