// Exponentials and logarithms to the base 2 on CDNA, by the names that every target has.
#pragma once

#include "tilewright/base/annotate.h"

namespace tw::isa {

// v_exp_f32. At most 1 ulp from 2^a; results below 2^-126 are zero, of minus infinity too.
TW_DEVICE float ex2_approx(float value) { return __builtin_amdgcn_exp2f(value); }

// v_log_f32. At most 1 ulp from log2(a); of zero and subnormals it is minus infinity.
TW_DEVICE float lg2_approx(float value) { return __builtin_amdgcn_logf(value); }

}  // namespace tw::isa
