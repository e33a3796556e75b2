// Hints about global memory.
#pragma once

#include "tilewright/base/annotate.h"

namespace tw::isa {

// prefetch.global.L2 [address];  PTX 2.0, sm_20. To the L2 only, and without effect on anybody.
TW_DEVICE void prefetch_global([[maybe_unused]] const void* address) {
#if defined(__CUDACC__)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

}  // namespace tw::isa
