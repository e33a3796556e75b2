// Instructions that a warp executes together.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"

namespace tw::isa {

// elect.sync _|p, 0xffffffff;  PTX 8.0, sm_90. True in exactly one lane; before
// sm_90 that is lane 0.
TW_DEVICE bool elect_one() {
#if defined(__CUDACC__) && __CUDA_ARCH__ < 900
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane == 0;
#elif defined(__CUDACC__)
  unsigned elected;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(elected));
  return elected != 0;
#else
  return model::elect_one();
#endif
}

// bar.warp.sync 0xffffffff;  PTX 6.0, sm_30
TW_DEVICE void warp_sync() {
#if defined(__CUDACC__)
  __syncwarp();
#else
  model::warp_sync();
#endif
}

// shfl.sync.idx.b32;  PTX 6.0, sm_30. With a constant lane it also tells the compiler that the
// result is the same in all lanes, so that it may live in a uniform register.
TW_DEVICE std::uint32_t shuffle(std::uint32_t value, unsigned source_lane) {
#if defined(__CUDACC__)
  return __shfl_sync(0xffffffffu, value, source_lane);
#else
  return model::shuffle(value, source_lane);
#endif
}

// setmaxnreg.dec.sync.aligned.u32 n;  PTX 8.0, sm_90a. Earlier targets keep what they launched
// with.
template <unsigned registers>
TW_DEVICE void setmaxnreg_decrease() {
  static_assert(registers >= 24 && registers <= 256 && registers % 8 == 0,
                "setmaxnreg takes 24 to 256 registers in steps of 8.");
#if defined(__CUDACC__)
#if __CUDA_ARCH__ >= 900
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
#endif
#else
  model::setmaxnreg(registers, false);
#endif
}

// setmaxnreg.inc.sync.aligned.u32 n;  PTX 8.0, sm_90a
template <unsigned registers>
TW_DEVICE void setmaxnreg_increase() {
  static_assert(registers >= 24 && registers <= 256 && registers % 8 == 0,
                "setmaxnreg takes 24 to 256 registers in steps of 8.");
#if defined(__CUDACC__)
#if __CUDA_ARCH__ >= 900
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
#endif
#else
  model::setmaxnreg(registers, true);
#endif
}

}  // namespace tw::isa
