// Programmatic dependent launch: a grid may start while the one before it still runs. Targets
// before sm_90 start grids one after the other, and these compile to nothing.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model/grid.h"

namespace tw::isa {

// griddepcontrol.wait;  PTX 7.8, sm_90. The grids before have ended, and their writes are visible.
TW_DEVICE void griddepcontrol_wait() {
#if defined(__CUDACC__)
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
#else
  model::griddepcontrol_wait();
#endif
}

// griddepcontrol.launch_dependents;  PTX 7.8, sm_90. The next grid may start.
TW_DEVICE void griddepcontrol_launch_dependents() {
#if defined(__CUDACC__)
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
#else
  model::griddepcontrol_launch_dependents();
#endif
}

}  // namespace tw::isa
