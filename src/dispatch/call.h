// What a call computes, in words by which tables of measured launches know it: the same in files,
// in the library's log and on the command line of ./tw tune.
#pragma once

#include <string>

#include "tilewright/family/conv2d/problem.h"
#include "tilewright/launch/checked.h"
#include "tilewright/launch/matmul_problem.h"

namespace tw {

// Before a call in the log; ./tw tune finds it by that.
inline constexpr const char* call_prefix = "tw: call: ";

// "matmul bf16 64x4096x1024": m, n and k of a product of K-major operands of one type. Biases,
// scales and activations may follow. Empty where tables have no words for it: batches, other
// layouts, epilogues that move as many bytes as D.
std::string call_of(const char* family, const MatmulProblem& problem);
// The call of a described family; empty where tables do not know it.
std::string call_of(const Checked& problem);

// The call of a described product; empty where ./tw tune does not measure the family.
std::string call_of(const Checked& problem);

// family conv2d: begin
// "conv2d bf16 32x56x56x64x128x3x3,2,1": n, h, w, c, k, r and s, then the stride, the padding, the
// dilation and the groups up to the last that is not 1, 0, 1 and 1. Empty for gradients, for a
// depth and where the sides differ in more than their extents.
std::string call_of(const tw_conv2d_problem& problem);
// family conv2d: end

}  // namespace tw
