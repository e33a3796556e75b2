// The conformance programs as kernels of one code object.
#include "tests/amd/conformance/programs.h"

namespace tw::conformance {

#define TW_KERNEL(NAME, BODY)                                                                  \
  extern "C" __attribute__((global, amdgpu_flat_work_group_size(64, 64))) void NAME(Wave wave) { \
    BODY(wave);                                                                                \
  }
TW_PROGRAMS_COMMON(TW_KERNEL)
#if defined(__gfx950__)
TW_PROGRAMS_GFX950(TW_KERNEL)
#else
TW_PROGRAMS_GFX942(TW_KERNEL)
#endif

}  // namespace tw::conformance
