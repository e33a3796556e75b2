// wgmma: a warpgroup multiplies asynchronously; operands by descriptor, accumulators in registers.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"
#include "tilewright/isa/ptx/wgmma_bf16.h"

namespace tw::isa {

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

}  // namespace tw::isa
