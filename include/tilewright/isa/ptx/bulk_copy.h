// Bulk copies of plain bytes, without a tensor map.
#pragma once

#include "tilewright/isa/ptx/tma.h"

namespace tw::isa {

// cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint
//     [destination], [source], bytes, [barrier], hint;  PTX 8.0, sm_90
// The number of bytes and both addresses are multiples of 16.
TW_DEVICE void cp_async_bulk_load(SharedAddress destination, const void* source, unsigned bytes,
                                  CopySignal barrier, CacheHint hint) {
#if defined(__CUDACC__)
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
      "[%1], %2, [%3], %4;" ::"r"(destination),
      "l"(source), "r"(bytes), "r"(barrier.in_copy()), "l"(hint)
      : "memory");
#else
  (void)hint;
  model::bulk_load(destination, source, bytes, barrier.in_copy(), 0);
#endif
}

}  // namespace tw::isa
