// Scalar arithmetic of CDNA, by the names that every target has.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/number/elementary.h"

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

// There is no library of them without a ROCm installation.
TW_DEVICE float erf(float value) { return erf_by_polynomials(value); }
TW_DEVICE float tanh(float value) { return tanh_by_polynomials(value); }

}  // namespace tw::isa
