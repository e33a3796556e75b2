// tcgen05.mma of elements with block scales: the operands lie in shared memory, their scales in
// tensor memory, where tcgen05.cp brings them.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model/scaled_products.h"
#include "tilewright/isa/ptx/tcgen05.h"

namespace tw::isa {

// tcgen05.mma.cta_group::G.kind::K.block_scale.blockN [d], a, b, instruction, [a_scales],
//     [b_scales], accumulate;  PTX 8.8, sm_100a. N: 16 for mxf4nvf4, else 32.
// d = (a * a_scales) (b * b_scales) + (accumulate ? d : 0). A scale is a byte of tensor memory: of
// row r in lane r % 32 and column r / 32 behind the address, and again 32, 64 and 96 lanes further;
// `instruction` says which byte of the column. Group 2: each CTA has the scales of its rows of a,
// and those of all columns of b.
template <ScaledMmaKind kind, unsigned cta_group>
requires CtaGroup<cta_group> TW_DEVICE void tcgen05_mma_scaled(
    TensorAddress d, std::uint64_t a, std::uint64_t b, std::uint32_t instruction,
    TensorAddress a_scales, TensorAddress b_scales, bool accumulate) {
#if defined(__CUDACC__)
#define TW_TCGEN05_MMA_SCALED(KIND)                                                            \
  asm volatile(                                                                                \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n"                                              \
      "tcgen05.mma.cta_group::%7.kind::" KIND " [%0], %1, %2, %3, [%4], [%5], p;\n}" ::"r"(d), \
      "l"(a), "l"(b), "r"(instruction), "r"(a_scales), "r"(b_scales),                          \
      "r"(static_cast<int>(accumulate)), "n"(cta_group)                                        \
      : "memory")
  if constexpr (kind == ScaledMmaKind::Mxf8f6f4)
    TW_TCGEN05_MMA_SCALED("mxf8f6f4.block_scale.block32");
  if constexpr (kind == ScaledMmaKind::Mxf4) TW_TCGEN05_MMA_SCALED("mxf4.block_scale.block32");
  if constexpr (kind == ScaledMmaKind::Mxf4nvf4)
    TW_TCGEN05_MMA_SCALED("mxf4nvf4.block_scale.block16");
#undef TW_TCGEN05_MMA_SCALED
#else
  model::tcgen05_mma_scaled(kind, cta_group, d, a, b, instruction, a_scales, b_scales, accumulate);
#endif
}

}  // namespace tw::isa
