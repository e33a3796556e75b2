// Special registers that traces and checks of a target read.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"

namespace tw::isa {

// mov.u64 d, %globaltimer;  PTX 3.1, sm_30
TW_DEVICE std::uint64_t global_timer() {
#if defined(__CUDACC__)
  std::uint64_t nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
  return nanoseconds;
#else
  return model::global_timer();
#endif
}

// WARP_SZ;  PTX 1.0, sm_10. How many lanes a warp has.
TW_DEVICE unsigned warp_lanes() {
#if defined(__CUDACC__)
  return 32;
#else
  return model::warp_lanes();
#endif
}

}  // namespace tw::isa
