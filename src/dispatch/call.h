// What a call computes, in words by which tables of measured launches know it: the same in files,
// in the library's log and on the command line of ./tw tune.
#pragma once

#include <string>

#include "tilewright/launch/checked.h"
#include "tilewright/launch/matmul_problem.h"

namespace tw {

// Before a call in the log; ./tw tune finds it by that.
inline constexpr const char* call_prefix = "tw: call: ";

// "matmul bf16 64x4096x1024": m, n and k of a product of K-major operands of one type. Biases,
// scales and activations may follow. Empty where tables have no words for it: batches, other
// layouts, epilogues that move as many bytes as D.
std::string call_of(const char* family, const MatmulProblem& problem);
// The same words for a described product; empty where ./tw tune does not measure the family.
std::string call_of(const Checked& problem);

}  // namespace tw
