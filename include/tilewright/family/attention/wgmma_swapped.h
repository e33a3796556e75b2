// TileOp on Hopper of values by weights: A along its rows, from a ring, and B as threads wrote it.
#pragma once

#include "tilewright/family/attention/swapped_softmax.h"
#include "tilewright/op/wgmma.h"

namespace tw {

// Sums of `columns` columns of values, which are rows, for the queries that weights are for.
template <class Weights, unsigned columns>
class ValueSums {
  static constexpr unsigned blocks = columns / 64;

 public:
  using Accumulator = RegisterAccumulator<blocks, Weights::rows>;
  using Operand = Weights;
  static constexpr bool elected = false;
  static constexpr Release release = Release::Group;
  static constexpr unsigned releases = 1;  // arrivals by each group
  static TW_DEVICE unsigned speaker(unsigned thread) { return thread; }

  // Multiplies the sums of all products so far by each column's factor.
  static TW_DEVICE void correct(Accumulator& sum, const ColumnNumbers<Weights::rows>& factors) {
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      float(&values)[Weights::rows / 2] = sum.values(block);
      TW_UNROLL
      for (unsigned i = 0; i < Weights::rows / 2; ++i) {
        values[i] *= factors.of[SumColumns<Weights::rows>::of_value(i)];
      }
    }
  }
};

// Adds the products of all columns of values, the rows of A, by the weights of all keys. The
// tensors' `operand` is (column,key,1,stage), M-major: all columns, or where there are more of them
// a slice, of which the last may have others behind them.
template <class TensorsA, class Weights, unsigned columns>
class WgmmaOfValues : public ValueSums<Weights, columns> {
  using A = typename TensorsA::Operand;
  using B = typename Weights::Tensors::Operand;
  static constexpr unsigned blocks = columns / 64;
  static constexpr unsigned slice_blocks = A::template static_extent<0> / 64;
  static constexpr WgmmaShape shape = {
      .a = TensorsA::type, .b = TensorsA::type, .n = Weights::rows, .a_transposed = 1};
  static constexpr unsigned span_steps = B::template static_extent<1> / shape.k();
  static constexpr unsigned steps = A::template static_extent<1> / shape.k();
  using BlocksA = OperandBlocks<A, Major::MN, 64, shape.k()>;
  using BlocksB = OperandBlocks<B, Major::K, Weights::rows, shape.k()>;

 public:
  static constexpr unsigned slices = (blocks + slice_blocks - 1) / slice_blocks;
  using typename ValueSums<Weights, columns>::Accumulator;
  static constexpr bool rows_are_paired = false;  // a row is the column that it names

  TW_DEVICE WgmmaOfValues(const TensorsA& a, const Weights& weights, unsigned /*thread*/ = 0)
      : a_(isa::shuffle(in_descriptor(a.operand.address()), 0)),
        b_(isa::shuffle(in_descriptor(weights.tensors().operand.address()), 0)) {}

  template <unsigned slice = 0, StageToRead Stage>
  TW_DEVICE void issue(Accumulator& sum, const Stage& stage, const Weights& weights) const {
    static_assert(is_stage_of<Stage, TensorsA>,
                  "The stage is of another ring than this TileOp was made for.");
    isa::describe_no_step();
    constexpr unsigned first = slice * slice_blocks;
    const std::uint64_t a =
        wgmma_descriptor(BlocksA::layout) + a_ + BlocksA::units(0, 0, 0, stage.slot());
    const std::uint64_t b =
        wgmma_descriptor(BlocksB::layout) + b_ + BlocksB::units(0, 0, 0, weights.slot());
    isa::wgmma_fence();
    TW_UNROLL
    for (unsigned step = 0; step < steps; ++step) {
      TW_UNROLL
      for (unsigned block = 0; block < slice_blocks && first + block < blocks; ++block) {
        isa::wgmma<shape>(sum.fragment(first + block), a + BlocksA::units(block, step, 0, 0),
                          b + BlocksB::units(0, step % span_steps, step / span_steps, 0),
                          step > 0 || sum.started());
      }
    }
    isa::wgmma_commit_group();
    sum.start();
  }
  // Until no more than so many calls of issue() are in flight: the stages of those before may be
  // let go.
  template <unsigned issued>
  static TW_DEVICE void wait_for_reads() {
    isa::wgmma_wait_group<issued>();
  }
  // Until no products are in flight.
  TW_DEVICE void wait(Accumulator& sum) const {
    isa::wgmma_wait_group<0>();
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) isa::wgmma_registers(sum.fragment(block));
  }

 private:
  std::uint32_t a_;  // units of 16 bytes
  std::uint32_t b_;
};

}  // namespace tw
