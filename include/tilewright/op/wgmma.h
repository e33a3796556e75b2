// TileOp on Hopper: a warpgroup multiplies its rows of A by all of B into sums in its registers.
#pragma once

#include <type_traits>

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/accumulator/promoted.h"
#include "tilewright/base/annotate.h"
#include "tilewright/io/stage.h"
#include "tilewright/isa/describe.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/isa/ptx/wgmma.h"
#include "tilewright/isa/ptx/wgmma_descriptor.h"
#include "tilewright/op/contracts.h"
#include "tilewright/op/operand_descriptor.h"
#include "tilewright/pipeline/payload.h"

namespace tw {

// Sums in the registers of one warpgroup: blocks of 64 rows by `columns`. `SumValue` is float or
// std::int32_t. Immovable: while a product is in flight the tensor core owns these registers.
template <unsigned block_count, unsigned n, class SumValue = float>
class RegisterAccumulator {
 public:
  using Value = SumValue;
  static constexpr FragmentLayout layout = FragmentLayout::Matrix;
  static constexpr unsigned blocks = block_count;
  static constexpr unsigned block_rows = 64;
  static constexpr unsigned columns = n;
  static constexpr unsigned fragment_size = n / 2;  // values of a thread, for each block

  // Not defaulted: RegisterAccumulator() would then fill the registers with zeros.
  TW_DEVICE RegisterAccumulator() {}
  RegisterAccumulator(const RegisterAccumulator&) = delete;
  RegisterAccumulator& operator=(const RegisterAccumulator&) = delete;
  TW_DEVICE ~RegisterAccumulator() { touch(); }

  // Only a TileOp asks for the registers themselves, to hand them to the instruction.
  TW_DEVICE Value (&fragment(unsigned block))[fragment_size] { return values_[block]; }

  // False until the first product: that one overwrites, so nothing has to be zeroed beforehand.
  TW_DEVICE bool started() const { return started_ != 0; }
  TW_DEVICE void start() { started_ = 1; }
  TW_DEVICE void start_over() { started_ = 0; }

  // The sum of no products.
  TW_DEVICE void clear() {
    touch();
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      TW_UNROLL
      for (unsigned i = 0; i < fragment_size; ++i) values_[block][i] = Value{};
    }
  }

  // Adds the sums of `other`, value by value.
  TW_DEVICE void add(const RegisterAccumulator& other) {
    touch();
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      isa::fragment_access(other.values_[block], fragment_size);
      TW_UNROLL
      for (unsigned i = 0; i < fragment_size; ++i) values_[block][i] += other.values_[block][i];
    }
  }

  // The same of a piece from block `first` and column `column` on, each times factor(block, i).
  template <class Piece, class Factor>
  TW_DEVICE void add(unsigned first, unsigned column, const Piece& piece, const Factor& factor) {
    TW_UNROLL
    for (unsigned block = 0; block < Piece::blocks; ++block) {
      TW_UNROLL
      for (unsigned i = 0; i < Piece::fragment_size; ++i) {
        values_[first + block][column / 2 + i] += piece.value(block, i) * factor(block, i);
      }
    }
  }

  // Multiplies the values of each of a thread's rows by that row's factor.
  TW_DEVICE void scale_rows(const RowPair& factors) {
    touch();
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      TW_UNROLL
      for (unsigned i = 0; i < fragment_size; ++i) values_[block][i] *= factors.of(i);
    }
  }

  // A thread's values of a block, to work on in place: no product may be in flight.
  TW_DEVICE Value (&values(unsigned block))[fragment_size] {
    isa::fragment_access(values_[block], fragment_size);
    return values_[block];
  }

  // Value i of this thread in a block stands at row_of(i), column_of(i) of the block.
  TW_DEVICE Value value(unsigned block, unsigned i) const {
    isa::fragment_access(&values_[block][i], 1);
    return values_[block][i];
  }
  static constexpr unsigned row_of(unsigned thread, unsigned i) {
    return 16 * (thread / 32) + thread % 32 / 4 + 8 * (i / 2 % 2);
  }
  static constexpr unsigned column_of(unsigned thread, unsigned i) {
    return 2 * (thread % 4) + i % 2 + 8 * (i / 4);
  }

 private:
  TW_DEVICE void touch() {
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      isa::fragment_access(values_[block], fragment_size);
    }
  }

  Value values_[blocks][fragment_size];
  // Not bool: as a byte it would be widened, tested and voted on in every round of the k loop.
  unsigned started_ = 0;
};

// Issues the products of a stage as one group: every block of 64 rows of A by all of B, along
// `spans` of k that take `steps` products each. `a` and `b` are descriptors of the first blocks.
template <WgmmaShape shape, class BlocksA, class BlocksB, unsigned spans, unsigned steps, class Sum>
TW_DEVICE void issue_products(Sum& sum, std::uint64_t a, std::uint64_t b) {
  isa::wgmma_fence();
  TW_UNROLL
  for (unsigned span = 0; span < spans; ++span) {
    TW_UNROLL
    for (unsigned k = 0; k < steps; ++k) {
      TW_UNROLL
      for (unsigned block = 0; block < Sum::blocks; ++block) {
        isa::wgmma<shape>(sum.fragment(block), a + BlocksA::units(block, k, span, 0),
                          b + BlocksB::units(0, k, span, 0), span + k > 0 || sum.started());
      }
    }
  }
  isa::wgmma_commit_group();
  sum.start();
}

// A layout as a descriptor, without the address.
constexpr std::uint64_t wgmma_descriptor(const DescribedLayout& layout) {
  return isa::wgmma_matrix_descriptor(layout.leading_bytes, layout.stride_bytes, layout.line_bytes);
}

// `rows` of the tile's m, and `columns` of its n, are this op's; stages lie `stage_bytes` apart.
// After `promote_every` stages a partial sum joins the sums (0: the tensor core adds up all).
template <Tiling tiling, unsigned rows, unsigned stage_bytes, unsigned promote_every = 0,
          unsigned columns = tiling.n>
class WgmmaOp : public UsualOp {
  static constexpr WgmmaShape shape = {tiling.a_type, tiling.b_type, columns,
                                       static_cast<unsigned>(tiling.a_major),
                                       static_cast<unsigned>(tiling.b_major)};
  static_assert(rows % 64 == 0 && rows > 0 && rows <= tiling.m,
                "A warpgroup multiplies blocks of 64 rows of the tile.");
  static_assert(tiling.b_major == Major::K || (tiling.n % 64 == 0 && columns == tiling.n),
                "An N-major tile is made of boxes of 64 columns.");
  static_assert(stage_bytes % 1024 == 0 && stage_bytes >= sizeof(OperandTiles<tiling>),
                "A stage holds A and B, and the next starts where the swizzle does.");

  using Tensors = OperandTensors<tiling, stage_bytes>;
  using BlocksA = OperandBlocks<typename Tensors::A, tiling.a_major, 64, shape.k()>;
  using BlocksB = OperandBlocks<typename Tensors::B, tiling.b_major, columns, shape.k()>;
  static constexpr std::uint64_t a_descriptor = wgmma_descriptor(BlocksA::layout);
  static constexpr std::uint64_t b_descriptor = wgmma_descriptor(BlocksB::layout);
  static constexpr unsigned blocks = rows / 64, steps = tiling.span_k() / shape.k();  // per span
  using Value = WgmmaSum<shape>;

 public:
  using Sums = RegisterAccumulator<blocks, columns, Value>;
  using Accumulator = std::conditional_t<promote_every == 0, Sums, PromotedAccumulator<Sums>>;
  // The same for 64 of the rows, and for half of the columns where these alone are many.
  using Piece =
      WgmmaOp<tiling, 64, stage_bytes, 0,
              rows == 64 && tiling.n % 32 == 0 && tiling.n >= 128 ? tiling.n / 2 : tiling.n>;
  static constexpr bool elected = false;
  static constexpr Release release = Release::Group;
  static constexpr unsigned releases = 1;  // arrivals by each group
  static TW_DEVICE unsigned speaker(unsigned thread) { return thread; }
  static TW_DEVICE bool leads() { return true; }
  // The product of the newest stage is still reading it when multiply() returns.
  static constexpr unsigned stages_held = 1;

  // The ring's stages, and this warpgroup's first row of the tile: a multiple of 64.
  TW_DEVICE WgmmaOp(const Tensors& stages, unsigned first_row, unsigned /*thread*/)
      : a_(isa::shuffle(in_descriptor(stages.a.template from<64>(first_row).address()), 0)),
        b_(isa::shuffle(in_descriptor(stages.b.address()), 0)) {}

  // Issues the products of one stage and waits for those of the stage before.
  template <StageToRead Stage>
  TW_DEVICE void multiply(Accumulator& sum, const Stage& stage) {
    if constexpr (promote_every == 0) {
      issue(sum, stage);
      isa::wgmma_wait_group<stages_held>();
    } else {
      issue(sum.partial(), stage);
      if (sum.is_full_after_stage(promote_every)) {
        isa::wgmma_wait_group<0>();
        sum.promote();
      } else {
        isa::wgmma_wait_group<stages_held>();
      }
    }
  }

  // After the last stage: the sums are in the registers.
  TW_DEVICE void finish(Accumulator& sum) {
    isa::wgmma_wait_group<0>();
    if constexpr (promote_every == 0) {
      if (!sum.started()) sum.clear();
    } else {
      if (sum.partial().started()) sum.promote();
    }
  }

  // `row`, a multiple of 64, and `column`, of 8, are a piece's first; `taken`: products of a span.
  template <unsigned taken = steps, class Sum, StageToRead Stage>
  TW_DEVICE void issue(Sum& sum, const Stage& stage, unsigned row = 0, unsigned column = 0) {
    static_assert(is_stage_of<Stage, Tensors>,
                  "The stage is of another ring than this TileOp was made for.");
    const std::uint64_t a = a_descriptor + a_ + BlocksA::units(row / 64, 0, 0, 0) +
                            BlocksA::units(0, 0, 0, stage.slot());
    const std::uint64_t b = b_descriptor + b_ + BlocksB::units(column / columns, 0, 0, 0) +
                            BlocksB::units(0, 0, 0, stage.slot());
    issue_products<shape, BlocksA, BlocksB, tiling.spans, taken>(sum, a, b);
  }
  // Waits until no more than `issued` calls of issue() have products in flight; `sum` is of others.
  template <unsigned issued>
  TW_DEVICE void wait(Accumulator& sum) const {
    isa::wgmma_wait_group<issued>();
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) isa::wgmma_registers(sum.fragment(block));
  }

 private:
  std::uint32_t a_;  // units of 16 bytes
  std::uint32_t b_;
};

}  // namespace tw
