// TileOps of single warps, sm_80 and later, whose operands do not share a stage: A and B of two
// rings, or A from registers. A warp has 16 of its group's 64 rows, in the registers that a
// warpgroup's product would leave it.
#pragma once

#include "tilewright/family/attention/packed_rows.h"
#include "tilewright/isa/ptx/warp_matrix.h"
#include "tilewright/op/wgmma.h"

namespace tw {

// Adds the product of 16 rows of A by 16 columns of B, whose two halves are b[0], b[1] and b[2],
// b[3], to a thread's values from `first` on.
template <ElementType type, unsigned count>
TW_DEVICE void add_product(float (&values)[count], unsigned first, const std::uint32_t (&a)[4],
                           const std::uint32_t (&b)[4]) {
  TW_UNROLL
  for (unsigned half = 0; half < 2; ++half) {
    const unsigned at = first + 4 * half;
    float sum[4] = {values[at], values[at + 1], values[at + 2], values[at + 3]};
    const std::uint32_t pair[2] = {b[2 * half], b[2 * half + 1]};
    isa::mma_sync<type == ElementType::Bf16 ? MmaType::Bf16 : MmaType::F16>(sum, a, pair);
    TW_UNROLL
    for (unsigned i = 0; i < 4; ++i) values[at + i] = sum[i];
  }
}

// 64 rows of A by all of B, both K-major, into a sum that starts anew. The tensors' `rows` are
// (row,k,span,stage).
template <class TensorsA, class TensorsB>
class MmaOfTwoRings {
  using A = typename TensorsA::Rows;
  using B = typename TensorsB::Rows;
  static constexpr unsigned columns = B::template static_extent<0>;
  static constexpr unsigned spans = A::template static_extent<2>;
  static constexpr unsigned steps = A::template static_extent<1> / 16;
  static_assert(columns % 16 == 0, "A warp multiplies blocks of 16 by 16.");

 public:
  using Accumulator = RegisterAccumulator<1, columns>;

  TW_DEVICE MmaOfTwoRings(const TensorsA& a, const TensorsB& b, unsigned first_row, unsigned thread)
      : a_(a.rows), b_(b.rows), row_(first_row + thread / 32 * 16), lane_(thread % 32) {}

  template <StageToRead StageA, StageToRead StageB>
  TW_DEVICE void issue(Accumulator& sum, const StageA& a, const StageB& b) const {
    static_assert(is_stage_of<StageA, TensorsA> && is_stage_of<StageB, TensorsB>,
                  "The stages are of other rings than this TileOp was made for.");
    isa::describe_no_step();
    const auto a_chunks = a_.template chunks<16>();
    const auto b_chunks = b_.template chunks<16>();
    // The second of four matrices of 8 by 8 lies below the first in A, and beside it in B.
    const unsigned matrix = lane_ / 8, in_matrix = lane_ % 8;
    sum.clear();
    float(&values)[columns / 2] = sum.values(0);
    TW_UNROLL
    for (unsigned span = 0; span < spans; ++span) {
      TW_UNROLL
      for (unsigned step = 0; step < steps; ++step) {
        std::uint32_t rows[4];
        isa::ldmatrix_x4(rows, a_chunks.address(row_ + matrix % 2 * 8 + in_matrix,
                                                2 * step + matrix / 2, span, a.slot()));
        TW_UNROLL
        for (unsigned pair = 0; pair < columns / 16; ++pair) {
          std::uint32_t others[4];
          isa::ldmatrix_x4(others, b_chunks.address(16 * pair + matrix / 2 * 8 + in_matrix,
                                                    2 * step + matrix % 2, span, b.slot()));
          add_product<TensorsA::type>(values, 8 * pair, rows, others);
        }
      }
    }
  }
  // Products are done when they are issued.
  template <unsigned>
  TW_DEVICE void wait(const Accumulator&) const {}
  template <unsigned>
  TW_DEVICE void settle(const Accumulator&) const {}

 private:
  A a_;
  B b_;
  unsigned row_;
  unsigned lane_;
};

// Adds 64 rows of A, packed in registers, by all of B, which is N-major. The tensors' `rows` are
// (k,n,span of n,stage); A has `k` columns.
template <class TensorsB, unsigned k>
class MmaOfRegisters {
  using B = typename TensorsB::Rows;
  static constexpr unsigned span_columns = B::template static_extent<1>;
  static constexpr unsigned spans = B::template static_extent<2>;
  static constexpr unsigned columns = span_columns * spans;

 public:
  using Accumulator = RegisterAccumulator<1, columns>;
  using Operand = PackedRows<k, TensorsB::type>;
  static constexpr bool elected = false;
  static constexpr Release release = Release::Warp;
  static constexpr unsigned releases = 4;  // arrivals by each group
  static TW_DEVICE unsigned speaker(unsigned thread) { return thread % 32; }

  TW_DEVICE MmaOfRegisters(const TensorsB& b, unsigned thread) : b_(b.rows), lane_(thread % 32) {}

  template <StageToRead Stage>
  TW_DEVICE void issue(Accumulator& sum, Operand& a, const Stage& stage) const {
    static_assert(is_stage_of<Stage, TensorsB>,
                  "The stage is of another ring than this TileOp was made for.");
    isa::describe_no_step();
    const auto chunks = b_.template chunks<16>();
    const unsigned matrix = lane_ / 8, in_matrix = lane_ % 8;
    float(&values)[columns / 2] = sum.values(0);
    TW_UNROLL
    for (unsigned step = 0; step < Operand::steps; ++step) {
      TW_UNROLL
      for (unsigned span = 0; span < spans; ++span) {
        TW_UNROLL
        for (unsigned pair = 0; pair < span_columns / 16; ++pair) {
          std::uint32_t others[4];
          isa::ldmatrix_x4_transposed(
              others, chunks.address(16 * step + matrix % 2 * 8 + in_matrix, 2 * pair + matrix / 2,
                                     span, stage.slot()));
          add_product<TensorsB::type>(values, span * (span_columns / 2) + 8 * pair,
                                      a.registers(step), others);
        }
      }
    }
  }
  template <unsigned>
  TW_DEVICE void wait(const Accumulator&, const Operand&) const {}
  TW_DEVICE void correct(Accumulator& sum, const RowPair& factors) const {
    sum.scale_rows(factors);
  }
  TW_DEVICE void finish(const Accumulator&) const {}

 private:
  B b_;
  unsigned lane_;
};

}  // namespace tw
