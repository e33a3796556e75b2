// TileOp on Blackwell: one thread multiplies whole tiles into tensor memory, for its CTA or for a
// pair of them.
#pragma once

#include "tilewright/isa/ptx/tcgen05.h"
#include "tilewright/op/tcgen05_operands.h"

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
class Tcgen05Op : public Tcgen05Operands<tiling, stage_bytes> {
  using Base = Tcgen05Operands<tiling, stage_bytes>;
  using Base::a_descriptor;
  using Base::b_descriptor;
  using Base::first_stage_;
  using Base::steps;
  using typename Base::BlocksA;
  using typename Base::BlocksB;
  using typename Base::Tensors;
  static_assert(tiling.m == 128, "A CTA's accumulator has 128 rows: the lanes of tensor memory.");
  static_assert(tiling.n % (16 * tiling.group) == 0 && tiling.n <= 256,
                "tcgen05.mma takes n up to 256 in steps of 16, of a pair in steps of 32.");
  static_assert((tiling.a_major == Major::K && tiling.b_major == Major::K) ||
                    bytes_of(tiling.a_type) <= 2,
                "tf32 operands must be K-major: the other way needs another swizzle.");

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

 public:
  TW_DEVICE Tcgen05Op(const Tensors& stages, unsigned /*first_row*/, unsigned /*thread*/)
      : Base(stages) {}

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
};

}  // namespace tw
