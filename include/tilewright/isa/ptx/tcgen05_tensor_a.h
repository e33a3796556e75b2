// tcgen05.mma with A in tensor memory.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model/tensor_memory.h"

namespace tw::isa {

// tcgen05.mma.cta_group::1.kind::f16 [d], [a], b, instruction, accumulate;  PTX 8.6, sm_100a.
// d = a b + (accumulate ? d : 0), with A in tensor memory: a row lies in its lane, 32 bytes of k in
// 8 columns, the first elements in the low bits. Of one CTA.
template <MmaKind kind>
TW_DEVICE void tcgen05_mma_tensor_a(TensorAddress d, TensorAddress a, std::uint64_t b,
                                    std::uint32_t instruction, bool accumulate) {
#if defined(__CUDACC__)
  static_assert(kind == MmaKind::F16, "Kernels have A of 16 bits in tensor memory.");
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\n"
      "tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p;\n}" ::"r"(d),
      "r"(a), "l"(b), "r"(instruction), "r"(static_cast<int>(accumulate))
      : "memory");
#else
  model::tcgen05_mma_tensor_a(kind, d, a, b, instruction, accumulate);
#endif
}

}  // namespace tw::isa
