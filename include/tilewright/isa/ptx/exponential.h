// Exponentials and logarithms to the base 2, as the hardware approximates them.
#pragma once

#include <cmath>
#include <limits>

#include "tilewright/base/annotate.h"

namespace tw::isa {

// ex2.approx.ftz.f32 d, a;  PTX 1.4, sm_20. At most 2 ulp from 2^a; results below 2^-126 are zero,
// of minus infinity too.
TW_DEVICE float ex2_approx(float value) {
#if defined(__CUDACC__)
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
#else
  const float result = std::exp2(value);
  return result < 0x1p-126f ? 0.0f : result;
#endif
}

// lg2.approx.ftz.f32 d, a;  PTX 1.4, sm_20. At most 2^-22 from log2(a), relatively so outside of
// [0.5, 2]; of zero and subnormals it is minus infinity.
TW_DEVICE float lg2_approx(float value) {
#if defined(__CUDACC__)
  float result;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
#else
  if (std::fabs(value) < 0x1p-126f) return -std::numeric_limits<float>::infinity();
  return std::log2(value);
#endif
}

}  // namespace tw::isa
