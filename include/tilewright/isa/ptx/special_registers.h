// Special registers that traces read.
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

}  // namespace tw::isa
