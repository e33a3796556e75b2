// The same product with its operands swapped: D^T = B A^T.
#pragma once

#include <utility>

#include "tilewright/launch/matmul_problem.h"

namespace tw {

// The transposed product: rows and columns change places. D, C and the auxiliary output keep their
// strides; a kernel with swap_ab takes their lines for columns.
inline MatmulProblem swap_ab(const MatmulProblem& given) {
  MatmulProblem problem = given;
  std::swap(problem.m, problem.n);
  std::swap(problem.a, problem.b);
  std::swap(problem.epilogue.row_bias, problem.epilogue.column_bias);
  std::swap(problem.epilogue.row_scale, problem.epilogue.column_scale);
  return problem;
}

}  // namespace tw
