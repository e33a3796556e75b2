// TileOp on Blackwell for elements with block scales: one thread copies a stage's scales into
// tensor memory and multiplies whole tiles with them, for its CTA or for a pair of them.
#pragma once

#include "tilewright/io/block_scales.h"
#include "tilewright/isa/ptx/tcgen05_scaled.h"
#include "tilewright/op/tcgen05_operands.h"

namespace tw {

constexpr ScaledMmaKind scaled_kind_of(const Tiling& tiling, ScaleType type) {
  if (!tiling.is_packed()) return ScaledMmaKind::Mxf8f6f4;
  return type == ScaleType::Ue8m0 ? ScaledMmaKind::Mxf4 : ScaledMmaKind::Mxf4nvf4;
}

// The format of an operand in an instruction of this kind.
constexpr std::uint8_t scaled_code_of(ElementType type, ScaledMmaKind kind) {
  if (kind != ScaledMmaKind::Mxf8f6f4) return 1;
  switch (type) {
    case ElementType::E5m2: return isa::mma_format::e5m2.code;
    case ElementType::E2m3: return isa::mma_format::e2m3.code;
    case ElementType::E3m2: return isa::mma_format::e3m2.code;
    case ElementType::E2m1: return isa::mma_format::e2m1.code;
    default: return isa::mma_format::e4m3.code;
  }
}

// Stages lie `stage_bytes` apart. Every stage of the ring has columns of its own for its scales: a
// stage is filled again when the products that read it, and its scales, are done. So one signal
// orders both, and a copy never overtakes a product (PTX would not order them).
template <Tiling tiling, unsigned stage_bytes, class Scales>
class Tcgen05ScaledOp : public Tcgen05Operands<tiling, stage_bytes> {
  using Base = Tcgen05Operands<tiling, stage_bytes>;
  using Base::a_descriptor;
  using Base::b_descriptor;
  using Base::first_stage_;
  using Base::steps;
  using typename Base::BlocksA;
  using typename Base::BlocksB;
  using typename Base::Tensors;
  static constexpr ScaledMmaKind kind = scaled_kind_of(tiling, Scales::type);
  static_assert(bits_in(tiling.a_type) <= 8 && bits_in(tiling.b_type) <= 8 &&
                    !is_integer(tiling.a_type) && !is_integer(tiling.b_type),
                "Elements with block scales are e4m3, e5m2, e2m3, e3m2 or e2m1.");
  static_assert(kind == ScaledMmaKind::Mxf4nvf4 || Scales::type == ScaleType::Ue8m0,
                "Scales of ue4m3 are for e2m1 times e2m1.");
  static_assert((tiling.a_major == Major::K || bits_in(tiling.a_type) == 8) &&
                    (tiling.b_major == Major::K || bits_in(tiling.b_type) == 8),
                "Operands of fewer than 8 bits must be K-major.");
  static_assert(tiling.m == 128 && tiling.n <= 256,
                "A CTA multiplies 128 rows, the lanes of tensor memory, by up to 256 columns.");
  static constexpr unsigned scales = scales_per_row(kind);  // scales per row and product

  using ScaleTensors = typename Scales::template Tensors<stage_bytes>;
  // A block of scales: 32 rows of 16 bytes, one after the other.
  static constexpr std::uint64_t scale_descriptor =
      isa::tcgen05_matrix_descriptor(0, 16, 8 * 16, isa::OperandSwizzle::None);

  // In tensor memory a block of scales is four columns; those of more rows follow, then the next
  // of k.
  static constexpr unsigned block_columns = 4;
  static constexpr unsigned a_columns = block_columns * Scales::a_blocks * Scales::k_blocks;
  static constexpr unsigned b_columns = block_columns * Scales::b_blocks * Scales::k_blocks;

  // `id`: the byte of its column that is a row's first scale.
  static constexpr std::uint32_t instruction(unsigned id) {
    return isa::tcgen05_scaled_instruction_descriptor(
        {.m = tiling.m * tiling.group,
         .n = tiling.n,
         .a_code = scaled_code_of(tiling.a_type, kind),
         .b_code = scaled_code_of(tiling.b_type, kind),
         .scale =
             Scales::type == ScaleType::Ue8m0 ? isa::ScaleFormat::Ue8m0 : isa::ScaleFormat::Ue4m3,
         .a_scale_id = id,
         .b_scale_id = id,
         .a_major = static_cast<isa::OperandMajor>(tiling.a_major),
         .b_major = static_cast<isa::OperandMajor>(tiling.b_major)});
  }

 public:
  static constexpr unsigned slot_columns = a_columns + b_columns;  // tensor memory of a stage

  template <class Stages>
  TW_DEVICE Tcgen05ScaledOp(const Stages& stages, unsigned /*first_row*/, unsigned /*thread*/)
      : Base(stages),
        first_scales_(in_descriptor(stages.a_scales.address())),
        to_b_scales_(in_descriptor(stages.b_scales.address()) - first_scales_) {}

  template <class Sum, StageToRead Stage>
  TW_DEVICE void multiply(Sum& sum, const Stage& stage) {
    static_assert(is_stage_of<Stage, Tensors> && is_stage_of<Stage, ScaleTensors>,
                  "The stage is of another ring than this TileOp was made for.");
    // Operands and scales are as far from those of the first stage.
    const unsigned distance = BlocksA::units(0, 0, 0, stage.slot());
    const TensorAddress slot = sum.scales + slot_columns * stage.slot();
    const std::uint64_t from = scale_descriptor + first_scales_ + distance;
    copy_scales<typename ScaleTensors::A, Scales::a_blocks>(slot, from);
    copy_scales<typename ScaleTensors::B, Scales::b_blocks>(slot + a_columns, from + to_b_scales_);

    const TensorAddress a_scales = slot;
    const TensorAddress b_scales = slot + a_columns + sum.to_first_column;
    const std::uint64_t a = a_descriptor + first_stage_ + distance;
    const std::uint64_t b = b_descriptor + in_descriptor(Tensors::b_at) + first_stage_ + distance;
    TW_UNROLL
    for (unsigned span = 0; span < tiling.spans; ++span) {
      TW_UNROLL
      for (unsigned k = 0; k < steps; ++k) {
        const unsigned scale = (span * steps + k) * scales;  // the row's first in the stage
        const unsigned block = scale / ScaleBlock::scales * block_columns;
        isa::tcgen05_mma_scaled<kind, tiling.group>(
            sum.address, a + BlocksA::units(0, k, span, 0), b + BlocksB::units(0, k, span, 0),
            instruction(scale % ScaleBlock::scales), a_scales + block * Scales::a_blocks,
            b_scales + block * Scales::b_blocks, span + k > 0 || sum.started != 0);
      }
    }
    sum.started = 1;
  }

 private:
  template <class Tensor, unsigned row_blocks>
  static TW_DEVICE void copy_scales(TensorAddress to, std::uint64_t from) {
    TW_UNROLL
    for (unsigned k = 0; k < Scales::k_blocks; ++k) {
      TW_UNROLL
      for (unsigned row = 0; row < row_blocks; ++row) {
        isa::tcgen05_cp_32x128b_warpx4<tiling.group>(
            to + block_columns * (row_blocks * k + row),
            from + in_descriptor(Tensor::offset_of(0u, k, row, 0u)));
      }
    }
  }

  // In units of 16 bytes.
  unsigned first_scales_;
  unsigned to_b_scales_;
};

}  // namespace tw
