// TileOps on Blackwell whose operands do not share a stage: A and B of two rings, or A from tensor
// memory. One thread issues them.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/tcgen05_tensor_a.h"
#include "tilewright/op/tcgen05.h"

namespace tw {

// A descriptor of an operand's blocks without its address.
constexpr std::uint64_t tcgen05_descriptor(const DescribedLayout& layout) {
  return isa::tcgen05_matrix_descriptor(0, layout.leading_bytes, layout.stride_bytes,
                                        isa::operand_swizzle(layout.line_bytes));
}
// 128 rows of A by all columns of B, of 16 bits, summed up in float32.
constexpr std::uint32_t tcgen05_rows_by(unsigned columns, ElementType type, Major b_major) {
  return isa::tcgen05_instruction_descriptor({.m = 128,
                                              .n = columns,
                                              .a = mma_format_of(type),
                                              .b = mma_format_of(type),
                                              .b_major = static_cast<isa::OperandMajor>(b_major)});
}

// 128 rows of A by all of B, both K-major, into a sum that starts anew. The tensors' `operand` is
// (row,k,span,stage).
template <class TensorsA, class TensorsB>
class Tcgen05OfTwoRings {
  using A = typename TensorsA::Operand;
  using B = typename TensorsB::Operand;
  static constexpr unsigned columns = B::template static_extent<0>;
  static constexpr unsigned spans = A::template static_extent<2>;
  static constexpr unsigned steps = A::template static_extent<1> / 16;
  using BlocksA = OperandBlocks<A, Major::K, 128, 16>;
  using BlocksB = OperandBlocks<B, Major::K, columns, 16>;
  static constexpr std::uint32_t instruction = tcgen05_rows_by(columns, TensorsA::type, Major::K);

 public:
  TW_DEVICE Tcgen05OfTwoRings(const TensorsA& a, const TensorsB& b)
      : a_(tcgen05_descriptor(BlocksA::layout) + in_descriptor(a.operand.address())),
        b_(tcgen05_descriptor(BlocksB::layout) + in_descriptor(b.operand.address())) {}

  // Block `block` of 128 rows of A.
  template <StageToRead StageA, StageToRead StageB>
  TW_DEVICE void issue(TensorAddress sum, unsigned block, const StageA& a, const StageB& b) const {
    static_assert(is_stage_of<StageA, TensorsA> && is_stage_of<StageB, TensorsB>,
                  "The stages are of other rings than this TileOp was made for.");
    isa::describe_no_step();
    const std::uint64_t of_a = a_ + BlocksA::units(block, 0, 0, a.slot());
    const std::uint64_t of_b = b_ + BlocksB::units(0, 0, 0, b.slot());
    TW_UNROLL
    for (unsigned i = 0; i < spans * steps; ++i) {
      isa::tcgen05_mma<MmaKind::F16, 1>(sum, of_a + BlocksA::units(0, i % steps, i / steps, 0),
                                        of_b + BlocksB::units(0, i % steps, i / steps, 0),
                                        instruction, i > 0);
    }
  }

 private:
  std::uint64_t a_;
  std::uint64_t b_;
};

// 128 rows of A in tensor memory, two elements in a column, by all of B, which is N-major. The
// tensors' `operand` is (n,k,1,stage); A has `k` columns.
template <class TensorsB, unsigned k>
class Tcgen05OfTensorMemory {
  using B = typename TensorsB::Operand;
  static constexpr unsigned columns = B::template static_extent<0>;
  using BlocksB = OperandBlocks<B, Major::MN, columns, 16>;
  static constexpr std::uint32_t instruction = tcgen05_rows_by(columns, TensorsB::type, Major::MN);

 public:
  static constexpr bool elected = true;
  static constexpr Release release = Release::Commit;
  static constexpr unsigned releases = 1;
  static TW_DEVICE unsigned speaker(unsigned) { return 0; }

  TW_DEVICE explicit Tcgen05OfTensorMemory(const TensorsB& b)
      : b_(tcgen05_descriptor(BlocksB::layout) + in_descriptor(b.operand.address())) {}

  // `adds`: to what the sum has already.
  template <StageToRead Stage>
  TW_DEVICE void issue(TensorAddress sum, TensorAddress a, const Stage& stage, bool adds) const {
    static_assert(is_stage_of<Stage, TensorsB>,
                  "The stage is of another ring than this TileOp was made for.");
    isa::describe_no_step();
    const std::uint64_t of_b = b_ + BlocksB::units(0, 0, 0, stage.slot());
    TW_UNROLL
    for (unsigned step = 0; step < k / 16; ++step) {
      isa::tcgen05_mma_tensor_a<MmaKind::F16>(
          sum, a + 8 * step, of_b + BlocksB::units(0, step, 0, 0), instruction, step > 0 || adds);
    }
  }

 private:
  std::uint64_t b_;
};

}  // namespace tw
