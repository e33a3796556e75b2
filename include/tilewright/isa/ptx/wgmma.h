// wgmma: a warpgroup multiplies asynchronously; operands by descriptor, accumulators in registers.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"
#include "tilewright/isa/ptx/wgmma_instruction.h"
#include "tilewright/isa/wgmma_shape.h"

namespace tw::isa {

// wgmma.mma_async.sync.aligned.m64nNkK.f32.T.T (or .s32.s8.s8) {d}, a, b, accumulate, ...;
//     PTX 8.0, sm_90a. A and B from shared memory through matrix descriptors.
// bf16 has every n, the other types 8, 16, 24 and the multiples of 16.
template <WgmmaShape shape>
TW_DEVICE void wgmma(WgmmaSum<shape> (&d)[shape.n / 2], std::uint64_t a, std::uint64_t b,
                     bool accumulate) {
  static_assert(shape.has_legal_types(),
                "wgmma multiplies bf16, fp16, tf32 or s8 by the same, and e4m3 or e5m2 by either.");
  static_assert(shape.has_legal_majors(), "wgmma reads only 16-bit types along m or n.");
  static_assert(shape.has_legal_n(), "wgmma takes n from 8 to 256 in steps of 8 (s8: of 16).");
#if defined(__CUDACC__)
  WgmmaInstruction<shape.a, shape.b, shape.n>::template issue<shape.a_transposed,
                                                              shape.b_transposed>(d, a, b,
                                                                                  accumulate);
#else
  model::wgmma(shape, d, a, nullptr, b, accumulate);
#endif
}

// wgmma.fence.sync.aligned;  PTX 8.0, sm_90a. Orders register accesses before the first wgmma.
TW_DEVICE void wgmma_fence() {
#if defined(__CUDACC__)
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#else
  model::wgmma_fence();
#endif
}

// wgmma.commit_group.sync.aligned;  PTX 8.0, sm_90a
TW_DEVICE void wgmma_commit_group() {
#if defined(__CUDACC__)
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#else
  model::wgmma_commit_group();
#endif
}

// wgmma.wait_group.sync.aligned n;  PTX 8.0, sm_90a
template <unsigned pending>
TW_DEVICE void wgmma_wait_group() {
  static_assert(pending <= 7, "wgmma.wait_group takes 0 to 7.");
#if defined(__CUDACC__)
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
#else
  model::wgmma_wait_group(pending);
#endif
}

// No instruction: what is done with these registers is not moved before a wait, of which the
// compiler does not know that it is for them.
template <unsigned count>
TW_DEVICE void wgmma_registers([[maybe_unused]] float (&values)[count]) {
#if defined(__CUDACC__)
  TW_UNROLL
  for (float& value : values) asm volatile("" : "+f"(value)::"memory");
#endif
}

}  // namespace tw::isa
