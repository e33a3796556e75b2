// TileOps on Hopper whose operands do not share a stage: A and B of two rings, or A from registers.
#pragma once

#include "tilewright/family/attention/packed_rows.h"
#include "tilewright/isa/ptx/wgmma_register.h"
#include "tilewright/op/wgmma.h"

namespace tw {

// Descriptors of an operand's blocks in one stage of a ring, by their low word, the only one that
// differs. It is the same in all lanes: the compiler, told so by the shuffle, makes them all in
// uniform registers.
template <class Blocks>
class StageDescriptors {
  static constexpr std::uint64_t layout = wgmma_descriptor(Blocks::layout);

 public:
  // The ring's first block lies at `first`, in units of 16 bytes.
  TW_DEVICE StageDescriptors(std::uint32_t first, unsigned slot)
      : low_(isa::shuffle(static_cast<std::uint32_t>(layout) + first + Blocks::units(0, 0, 0, slot),
                          0)) {}
  TW_DEVICE std::uint64_t of(unsigned k_block, unsigned span, unsigned row_block = 0) const {
    return layout >> 32 << 32 | (low_ + Blocks::units(row_block, k_block, span, 0));
  }

 private:
  std::uint32_t low_;
};

// A warpgroup multiplies its `rows` of A, 64 or more, by `columns` rows of B, usually all, both
// K-major, into a sum that starts anew. The tensors' `operand` is (row,k,span,stage).
template <class TensorsA, class TensorsB, unsigned rows = 64,
          unsigned columns = TensorsB::Operand::template static_extent<0>>
class WgmmaOfTwoRings {
  using A = typename TensorsA::Operand;
  using B = typename TensorsB::Operand;
  static constexpr unsigned spans = A::template static_extent<2>;
  static constexpr WgmmaShape shape = {.a = TensorsA::type, .b = TensorsB::type, .n = columns};
  static constexpr unsigned steps = A::template static_extent<1> / shape.k();
  using BlocksA = OperandBlocks<A, Major::K, 64, shape.k()>;
  using BlocksB = OperandBlocks<B, Major::K, columns, shape.k()>;
  // The last slice of A may have more than there is of B.
  static constexpr unsigned spans_of(unsigned slice) {
    constexpr unsigned all = B::template static_extent<2>;
    return all < (slice + 1) * spans ? all - slice * spans : spans;
  }

 public:
  using Accumulator = RegisterAccumulator<rows / 64, columns>;

  // This warpgroup's first row of A is a multiple of 64, its first of B one of `columns`.
  TW_DEVICE WgmmaOfTwoRings(const TensorsA& a, const TensorsB& b, unsigned first_row,
                            unsigned /*thread*/, unsigned first_column = 0)
      : a_(in_descriptor(a.operand.template from<64>(first_row).address())),
        b_(in_descriptor(b.operand.template from<columns>(first_column).address())) {}

  // Where A comes in slices of k, B has all of them, and the first starts the sum.
  template <unsigned slice = 0, StageToRead StageA, StageToRead StageB>
  TW_DEVICE void issue(Accumulator& sum, const StageA& a, const StageB& b) const {
    static_assert(is_stage_of<StageA, TensorsA> && is_stage_of<StageB, TensorsB>,
                  "The stages are of other rings than this TileOp was made for.");
    isa::describe_no_step();
    const StageDescriptors<BlocksA> of_a(a_, a.slot());
    const StageDescriptors<BlocksB> of_b(b_, b.slot());
    isa::wgmma_fence();
    TW_UNROLL
    for (unsigned i = 0; i < spans_of(slice) * steps; ++i) {
      TW_UNROLL
      for (unsigned block = 0; block < rows / 64; ++block) {
        isa::wgmma<shape>(sum.fragment(block), of_a.of(i % steps, i / steps, block),
                          of_b.of(i % steps, slice * spans + i / steps), slice > 0 || i > 0);
      }
    }
    isa::wgmma_commit_group();
  }
  // Until no more than so many calls of issue() are in flight, none of them on `sum`.
  template <unsigned issued>
  TW_DEVICE void wait(Accumulator& sum) const {
    isa::wgmma_wait_group<issued>();
    settle(sum);
  }
  // What was done with the sum is done before the next wait: the compiler knows of no reason not to
  // put it off. The same of a thread's upper (0) or lower row in blocks of 64 rows.
  TW_DEVICE void settle(Accumulator& sum) const {
    TW_UNROLL
    for (unsigned block = 0; block < rows / 64; ++block) isa::wgmma_registers(sum.fragment(block));
  }
  template <unsigned half>
  TW_DEVICE void settle(Accumulator& sum) const {
    TW_UNROLL
    for (unsigned block = 0; block < rows / 64; ++block) {
      isa::wgmma_registers_of_row<half>(sum.fragment(block));
    }
  }

 private:
  std::uint32_t a_;  // units of 16 bytes
  std::uint32_t b_;
};

// Sums of a warpgroup's 64 rows in two levels: Hopper's tensor core keeps 14 bits of a sum of fp8
// products, so that it adds up those of one block alone, and blocks are added up in float32. What
// was summed up before a block is multiplied by a factor first, in the same instruction: the sums
// are those of all blocks but the last.
template <unsigned n>
class SumsOfBlocks : public RegisterAccumulator<1, n> {
 public:
  using Block = RegisterAccumulator<1, n>;
  TW_DEVICE Block& block() { return block_; }

  // The block joins the sums. Before the next one does, they are to be multiplied by `factors`.
  TW_DEVICE void join(const RowPair& factors) {
    float(&sums)[n / 2] = this->values(0);
    const float(&added)[n / 2] = block_.values(0);
    TW_UNROLL
    for (unsigned i = 0; i < n / 2; ++i) sums[i] = sums[i] * factors_.of(i) + added[i];
    factors_ = factors;
  }

 private:
  Block block_;
  RowPair factors_ = {1, 1};
};

// Adds 64 rows of A, packed in the warpgroup's registers, by all of B: N-major, with an `operand`
// (n,k,1,stage) of the tensors; of 8 bits K-major, (n,k,span,stage). A has `k` columns; B may have
// more of k, which are not read. With `in_blocks` each block's sum is one of its own.
template <class TensorsB, unsigned k, bool in_blocks = bytes_of(TensorsB::type) == 1>
class WgmmaOfRegisters {
  using B = typename TensorsB::Operand;
  static constexpr ElementType type = TensorsB::type;
  static constexpr bool along_k = bytes_of(type) == 1;
  static constexpr unsigned columns = B::template static_extent<0>;
  static constexpr unsigned step_k = 32 / bytes_of(type);
  static constexpr unsigned steps = B::template static_extent<1> / step_k;  // per span
  using BlocksB = OperandBlocks<B, along_k ? Major::K : Major::MN, columns, step_k>;

 public:
  using Accumulator =
      std::conditional_t<in_blocks, SumsOfBlocks<columns>, RegisterAccumulator<1, columns>>;
  using Operand = PackedRows<k, type>;
  static constexpr bool elected = false;
  static constexpr Release release = Release::Group;
  static constexpr unsigned releases = 1;  // arrivals by each group
  static TW_DEVICE unsigned speaker(unsigned thread) { return thread; }

  TW_DEVICE WgmmaOfRegisters(const TensorsB& b, unsigned /*thread*/)
      : b_(in_descriptor(b.operand.address())) {}

  template <StageToRead Stage>
  TW_DEVICE void issue(Accumulator& sum, Operand& a, const Stage& stage) const {
    static_assert(is_stage_of<Stage, TensorsB>,
                  "The stage is of another ring than this TileOp was made for.");
    isa::describe_no_step();
    const StageDescriptors<BlocksB> b(b_, stage.slot());
    auto& products = products_of(sum);
    if constexpr (in_blocks) products.start_over();
    isa::wgmma_fence();
    TW_UNROLL
    for (unsigned step = 0; step < Operand::steps; ++step) {
      isa::wgmma_register<type, columns, along_k ? 0 : 1>(products.fragment(0), a.registers(step),
                                                          b.of(step % steps, step / steps),
                                                          step > 0 || products.started());
    }
    isa::wgmma_commit_group();
    products.start();
  }
  // Until no more than so many calls of issue() are in flight, none of them on `sum` and `a`.
  template <unsigned issued>
  TW_DEVICE void wait(Accumulator& sum, Operand& a) const {
    isa::wgmma_wait_group<issued>();
    isa::wgmma_registers(products_of(sum).fragment(0));
    TW_UNROLL
    for (unsigned step = 0; step < Operand::steps; ++step) {
      isa::wgmma_registers(a.registers(step));
    }
  }
  // Multiplies the sums of all products issued so far by each row's factor.
  TW_DEVICE void correct(Accumulator& sum, const RowPair& factors) const {
    if constexpr (in_blocks) {
      sum.join(factors);
    } else {
      sum.scale_rows(factors);
    }
  }
  // After the last wait: the sums are whole.
  TW_DEVICE void finish(Accumulator& sum) const {
    if constexpr (in_blocks) sum.join({1, 1});
  }

 private:
  static TW_DEVICE auto& products_of(Accumulator& sum) {
    if constexpr (in_blocks) {
      return sum.block();
    } else {
      return sum;
    }
  }

  std::uint32_t b_;  // units of 16 bytes
};

}  // namespace tw
