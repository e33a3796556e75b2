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

// The value, of which the compiler knows nothing: what follows from it is not computed ahead, to be
// kept in registers until a branch that is seldom taken.
TW_DEVICE unsigned opaque(unsigned value) {
#if defined(__HIP__)
  asm volatile("" : "+v"(value));
#endif
  return value;
}

}  // namespace tw::isa
