// Grids of CDNA start one after the other.
#pragma once

#include "tilewright/base/annotate.h"

namespace tw::isa {

TW_DEVICE void griddepcontrol_wait() {}
TW_DEVICE void griddepcontrol_launch_dependents() {}

// The arguments of a kernel where they lie: of a parameter that is indexed, every thread would have
// a copy in memory.
template <class Params>
TW_DEVICE const Params& arguments() {
  return *(const Params*)__builtin_amdgcn_kernarg_segment_ptr();
}

}  // namespace tw::isa
