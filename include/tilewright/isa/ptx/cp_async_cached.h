// Asynchronous copies of memory that is soon copied again.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model/async_copy.h"

namespace tw::isa {

// cp.async.ca.shared.global [destination], [source], bytes, source_bytes;  PTX 7.0, sm_80
// As cp_async of cp_async.h, by way of the L1 whatever the size.
template <unsigned bytes>
TW_DEVICE void cp_async_cached(SharedAddress destination, const void* source,
                               unsigned source_bytes) {
  static_assert(bytes == 4 || bytes == 8 || bytes == 16, "cp.async copies 4, 8 or 16 bytes.");
#if defined(__CUDACC__)
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(destination), "l"(source),
               "n"(bytes), "r"(source_bytes)
               : "memory");
#else
  model::cp_async(destination, source, bytes, source_bytes);
#endif
}

}  // namespace tw::isa
