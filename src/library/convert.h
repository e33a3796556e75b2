// From the C interface's problem to the kernels' problem. What is wrong with it is thrown.
#pragma once

#include <optional>

#include "tilewright.h"
#include "tilewright/host/matmul_problem.h"

namespace tw::library {

// Where an extent of an operand is 1, its memory reads both K-major and MN-major; kernels that
// take it one way may not take it the other.
struct ConvertedProblem {
  MatmulProblem problem;
  std::optional<MatmulOperand> other_a;
  std::optional<MatmulOperand> other_b;
};

ConvertedProblem convert(const tw_matmul_problem* problem);

// Null options mean the usual ones.
tw_matmul_options checked_options(const tw_matmul_options* options);

}  // namespace tw::library
