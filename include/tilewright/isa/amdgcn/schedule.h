// What tells the compiler in which order instructions shall stand.
#pragma once

#include "tilewright/base/annotate.h"

namespace tw::isa {

// sched_barrier 0: nothing moves across it. No instruction, and nothing to model.
TW_DEVICE void schedule_barrier() {
#if defined(__HIP__)
  __builtin_amdgcn_sched_barrier(0);
#endif
}

}  // namespace tw::isa
