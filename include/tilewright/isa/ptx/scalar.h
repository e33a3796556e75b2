// Scalar arithmetic and conversions that C++ has no word for.
#pragma once

#include <cmath>

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"
#include "tilewright/number/narrow_float.h"

namespace tw::isa {

// rcp.approx.ftz.f32 d, a;  PTX 1.4, sm_20. At most 1 ulp from 1 / a; subnormals count as zero.
TW_DEVICE float rcp_approx(float value) {
#if defined(__CUDACC__)
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
  return result;
#else
  const float result = 1.0f / value;
  const bool subnormal = result < 0x1p-126f && result > -0x1p-126f;
  return subnormal ? 0.0f * result : result;
#endif
}

// max.NaN.f32 d, a, b;  PTX 7.0, sm_80. NaN if one of them is; +0 is more than -0.
TW_DEVICE float max_nan(float left, float right) {
#if defined(__CUDACC__)
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(left), "f"(right));
  return result;
#else
  if (left == right) return std::signbit(left) ? right : left;
  return left > right || left != left ? left : right;
#endif
}

// cvt.f32.f16 d, a;  PTX 1.0, sm_53
TW_DEVICE float cvt_f32_f16(std::uint16_t bits) {
#if defined(__CUDACC__)
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(bits));
  return result;
#else
  return static_cast<float>(Fp16::from_bits(bits));
#endif
}

}  // namespace tw::isa
