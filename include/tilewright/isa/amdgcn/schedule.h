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

// The same of what all lanes have alike: it is a scalar by itself, whatever it was loaded with.
template <class Value>
TW_DEVICE Value alone(Value value) {
#if defined(__HIP__)
  asm volatile("" : "+s"(value));
#endif
  return value;
}

// The value is computed here, and not where it is used.
TW_DEVICE void computed_here([[maybe_unused]] float& value) {
#if defined(__HIP__)
  asm volatile("" : "+v"(value));
#endif
}

// A kernel's arguments: what is read of them behind this is read then, and not kept in registers
// from the kernel's beginning on.
template <class Params>
TW_DEVICE const Params& read_again([[maybe_unused]] const Params& params) {
#if defined(__HIP__)
  auto* address = __builtin_amdgcn_kernarg_segment_ptr();
  asm volatile("" : "+s"(address));
  return *(const Params*)address;
#else
  return params;
#endif
}

}  // namespace tw::isa
