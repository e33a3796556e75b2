// Scalar arithmetic of CDNA, by the names that every target has.
#pragma once

#include <cstdint>

#include "tilewright/base/annotate.h"

namespace tw::isa {

// v_rcp_f32. At most 1 ulp from 1 / a.
TW_DEVICE float rcp_approx(float value) { return __builtin_amdgcn_rcpf(value); }

// NaN if one of them is; +0 is more than -0.
TW_DEVICE float max_nan(float left, float right) {
  if (left == right) return __builtin_signbit(left) ? right : left;
  return left > right || left != left ? left : right;
}

// v_cvt_f32_f16
TW_DEVICE float cvt_f32_f16(std::uint16_t bits) {
  return static_cast<float>(__builtin_bit_cast(_Float16, bits));
}

}  // namespace tw::isa
