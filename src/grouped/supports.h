// Whether a kernel computes a product in groups.
#pragma once

#include "tilewright/host/grouped.h"

namespace tw {

// As a plan says it that nobody launches.
template <class Parts>
Status supports_groups(const GroupedProblem& problem, const MatmulOrder& order) {
  const MatmulProblem& matmul = problem.matmul;
  if (std::min({matmul.m, matmul.n, matmul.batch}) == 0) return Status::good();
  typename kernel::WarpSpecialized<Parts>::Params params;
  MatmulGrid grid;
  return plan<Parts>(params, grid, problem, order, 1, {},
                     [](TensorMap&, const MatrixBox&) { return Status::good(); });
}

}  // namespace tw
