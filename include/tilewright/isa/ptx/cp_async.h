// Asynchronous copies of 4, 8 or 16 bytes from global to shared memory, and how a thread, or an
// mbarrier, learns that they have landed.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model/async_copy.h"

namespace tw::isa {

// cp.async.cg.shared.global [destination], [source], 16, source_bytes;  PTX 7.0, sm_80
// cp.async.ca for 4 and 8 bytes. Bytes from source_bytes on arrive as zeros; with 0 nothing is
// read. 16 bytes bypass the L1: tiles are read once.
template <unsigned bytes>
TW_DEVICE void cp_async(SharedAddress destination, const void* source, unsigned source_bytes) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "cp.async copies 4, 8 or 16 bytes.");
#if defined(__CUDACC__)
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(destination), "l"(source),
                 "r"(source_bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(destination), "l"(source),
                 "n"(bytes), "r"(source_bytes)
                 : "memory");
  }
#else
  model::cp_async(destination, source, bytes, source_bytes);
#endif
}

// cp.async.commit_group;  PTX 7.0, sm_80
TW_DEVICE void cp_async_commit_group() {
#if defined(__CUDACC__)
  asm volatile("cp.async.commit_group;" ::: "memory");
#else
  model::cp_async_commit_group();
#endif
}

// cp.async.wait_group n;  PTX 7.0, sm_80. All but the n latest groups of this thread have landed,
// and this thread may read them; others may after a barrier.
template <unsigned pending>
TW_DEVICE void cp_async_wait_group() {
#if defined(__CUDACC__)
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
#else
  model::cp_async_wait_group(pending);
#endif
}

// cp.async.mbarrier.arrive.noinc.shared::cta.b64 [barrier];  PTX 7.1, sm_80
// One arrival, made when all earlier copies of this thread have landed: it is one of those that
// the barrier was initialised to expect. It publishes the copies, not the thread's own writes.
TW_DEVICE void cp_async_mbarrier_arrive_noinc(SharedAddress barrier) {
#if defined(__CUDACC__)
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
#else
  model::cp_async_mbarrier_arrive_noinc(barrier);
#endif
}

}  // namespace tw::isa
