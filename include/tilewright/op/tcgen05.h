// TileOp on Blackwell: one thread multiplies whole tiles into tensor memory, for its CTA or for a
// pair of them.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/stage.h"
#include "tilewright/isa/ptx/tcgen05.h"
#include "tilewright/isa/ptx/tcgen05_descriptor.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/op/operand_descriptor.h"
#include "tilewright/pipeline/payload.h"

namespace tw {

constexpr isa::MmaFormat mma_format_of(ElementType type) {
  switch (type) {
    case ElementType::Fp16: return isa::mma_format::fp16;
    case ElementType::Bf16: return isa::mma_format::bf16;
    case ElementType::Tf32: return isa::mma_format::tf32;
    case ElementType::E4m3: return isa::mma_format::e4m3;
    case ElementType::E5m2: return isa::mma_format::e5m2;
    default: return isa::mma_format::s8;
  }
}

// Stages lie `stage_bytes` apart.
template <Tiling tiling, unsigned stage_bytes>
class Tcgen05Op {
  static_assert(tiling.m == 128, "A CTA's accumulator has 128 rows: the lanes of tensor memory.");
  static_assert(tiling.n % (16 * tiling.group) == 0 && tiling.n <= 256,
                "tcgen05.mma takes n up to 256 in steps of 16, of a pair in steps of 32.");
  static_assert((tiling.a_major == Major::K && tiling.b_major == Major::K) ||
                    bytes_of(tiling.a_type) <= 2,
                "tf32 operands must be K-major: the other way needs another swizzle.");
  static constexpr unsigned step_k = 32 / bytes_of(tiling.a_type);
  static constexpr unsigned steps = tiling.span_k() / step_k;  // of a span

  static constexpr MmaKind kind = mma_format_of(tiling.a_type).kind;
  static constexpr std::uint32_t instruction = isa::tcgen05_instruction_descriptor(
      {.m = tiling.m * tiling.group,
       .n = tiling.n,
       .a = mma_format_of(tiling.a_type),
       .b = mma_format_of(tiling.b_type),
       .accumulator =
           is_integer(tiling.a_type) ? isa::MmaAccumulator::S32 : isa::MmaAccumulator::F32,
       .a_major = static_cast<isa::OperandMajor>(tiling.a_major),
       .b_major = static_cast<isa::OperandMajor>(tiling.b_major)});

  using Tensors = OperandTensors<tiling, stage_bytes>;
  using BlocksA = OperandBlocks<typename Tensors::A, tiling.a_major, tiling.m, step_k>;
  using BlocksB = OperandBlocks<typename Tensors::B, tiling.b_major, tiling.b_rows(), step_k>;
  // Without the address.
  static constexpr std::uint64_t descriptor(const DescribedLayout& layout) {
    return isa::tcgen05_matrix_descriptor(0, layout.leading_bytes, layout.stride_bytes,
                                          isa::operand_swizzle(layout.line_bytes));
  }
  static constexpr std::uint64_t a_descriptor = descriptor(BlocksA::layout);
  static constexpr std::uint64_t b_descriptor = descriptor(BlocksB::layout);

 public:
  static constexpr bool elected = true;
  static constexpr Release release = Release::Commit;
  static constexpr unsigned stages_held = 0;  // the commit waits for the products by itself
  static constexpr unsigned releases = 1;
  static TW_DEVICE unsigned speaker(unsigned) { return 0; }

  TW_DEVICE Tcgen05Op(const Tensors& stages, unsigned /*first_row*/, unsigned /*thread*/)
      : first_stage_(in_descriptor(stages.a.address())) {}

  // In a pair only the CTA of even rank multiplies.
  TW_DEVICE bool leads() const {
    if constexpr (tiling.group == 1)
      return true;
    else
      return isa::cluster_rank() % tiling.group == 0;
  }

  template <class Sum, StageToRead Stage>
  TW_DEVICE void multiply(Sum& sum, const Stage& stage) {
    static_assert(is_stage_of<Stage, Tensors>,
                  "The stage is of another ring than this TileOp was made for.");
    // Both operands are as far from those of the first stage, and B as far from A in every stage.
    const unsigned at = first_stage_ + BlocksA::units(0, 0, 0, stage.slot());
    const std::uint64_t a = a_descriptor + at;
    const std::uint64_t b = b_descriptor + in_descriptor(Tensors::b_at) + at;
    TW_UNROLL
    for (unsigned span = 0; span < tiling.spans; ++span) {
      TW_UNROLL
      for (unsigned k = 0; k < steps; ++k) {
        isa::tcgen05_mma<kind, tiling.group>(sum.address, a + BlocksA::units(0, k, span, 0),
                                             b + BlocksB::units(0, k, span, 0), instruction,
                                             span + k > 0 || sum.started != 0);
      }
    }
    sum.started = 1;
  }
  template <class Sum>
  TW_DEVICE void finish(Sum&) {}

 private:
  unsigned first_stage_;  // units of 16 bytes
};

}  // namespace tw
