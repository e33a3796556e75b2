// TileOp on Blackwell: one thread multiplies whole tiles into tensor memory, for its CTA or for a
// pair of them.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/tiling.h"
#include "tilewright/isa/ptx/tcgen05.h"
#include "tilewright/isa/ptx/tcgen05_descriptor.h"
#include "tilewright/isa/ptx/threads.h"
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

// Stages lie `stage_bytes` apart: A, then B, each span after span (io/tma_loader.h).
template <Tiling tiling, unsigned stage_bytes>
class Tcgen05Op {
  static_assert(tiling.m == 128, "A CTA's accumulator has 128 rows: the lanes of tensor memory.");
  static_assert(tiling.n % (16 * tiling.group) == 0 && tiling.n <= 256,
                "tcgen05.mma takes n up to 256 in steps of 16, of a pair in steps of 32.");
  static_assert((tiling.a_major == Major::K && tiling.b_major == Major::K) ||
                    bytes_of(tiling.a_type) <= 2,
                "tf32 operands must be K-major: the other way needs another swizzle.");
  static constexpr unsigned step_k_bytes = 32;
  static constexpr unsigned steps = Tiling::span_bytes / step_k_bytes;  // of a span
  static constexpr unsigned step_k = step_k_bytes / bytes_of(tiling.a_type);

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

  // Without the address.
  static constexpr std::uint64_t descriptor(Major major) {
    constexpr isa::OperandSwizzle swizzle = isa::OperandSwizzle::Bytes128;
    return major == Major::K
               ? isa::tcgen05_k_major_descriptor(0, swizzle)
               : isa::tcgen05_mn_major_descriptor(0, tiling.span_k() * Tiling::span_bytes, swizzle);
  }
  // From one step of k to the next: along a line, or to the lines of the next k.
  static constexpr unsigned step_bytes(Major major) {
    return major == Major::K ? step_k_bytes : step_k * Tiling::span_bytes;
  }

 public:
  static constexpr bool elected = true;
  static constexpr Release release = Release::Commit;
  static constexpr unsigned stages_held = 0;  // the commit waits for the products by itself
  static constexpr unsigned releases = 1;
  static TW_DEVICE unsigned speaker(unsigned) { return 0; }

  TW_DEVICE Tcgen05Op(SharedAddress first_stage, unsigned /*first_row*/, unsigned /*thread*/)
      // Without the CTA's rank, which stands above the address in a cluster; in units of 16 bytes.
      : first_stage_((first_stage & 0x3FFFF) >> 4) {}

  // In a pair only the CTA of even rank multiplies.
  TW_DEVICE bool leads() const {
    if constexpr (tiling.group == 1)
      return true;
    else
      return isa::cluster_rank() % tiling.group == 0;
  }

  template <class Sum, class Stage>
  TW_DEVICE void multiply(Sum& sum, const Stage& stage) {
    const unsigned at = first_stage_ + stage.slot() * (stage_bytes >> 4);
    const std::uint64_t a = descriptor(tiling.a_major) + at;
    const std::uint64_t b = descriptor(tiling.b_major) + (tiling.a_bytes() >> 4) + at;
    TW_UNROLL
    for (unsigned span = 0; span < tiling.spans; ++span) {
      TW_UNROLL
      for (unsigned k = 0; k < steps; ++k) {
        const unsigned a_at = span * tiling.m * Tiling::span_bytes + k * step_bytes(tiling.a_major);
        const unsigned b_at =
            span * tiling.b_rows() * Tiling::span_bytes + k * step_bytes(tiling.b_major);
        isa::tcgen05_mma<kind, tiling.group>(sum.address, a + (a_at >> 4), b + (b_at >> 4),
                                             instruction, span + k > 0 || sum.started != 0);
      }
    }
    sum.started = 1;
  }
  template <class Sum>
  TW_DEVICE void finish(Sum&) {}

 private:
  unsigned first_stage_;
};

}  // namespace tw
