// How a blockwise FP8 product is launched: the matmul's plan with the views of its scales.
#pragma once

#include <utility>

#include "tilewright/family/blockwise_fp8.h"
#include "tilewright/host/blockwise_problem.h"
#include "tilewright/host/matmul.h"

namespace tw {

template <class Parts>
Status supports(const BlockwiseProblem& problem, unsigned b_scale_rows, const MatmulOrder& order) {
  if (Status status = check(problem, b_scale_rows); !status.is_good()) return status;
  return supports<Parts>(problem.matmul, order);
}

template <class Parts, class Encode>
Status plan(typename kernel::WarpSpecialized<Parts>::Params& params, MatmulGrid& grid,
            const BlockwiseProblem& problem, const MatmulOrder& order, unsigned max_clusters,
            const Workspace& workspace, const Encode& encode) {
  const auto view = [&](const ScaleTensor& given) {
    return detail::view_of(given.tensor, problem.matmul, given.rows);
  };
  params.own = {view(problem.a_scales), view(problem.b_scales)};
  if constexpr (Parts::config.tiling.exchanged != 0) std::swap(params.own.a, params.own.b);
  return plan<Parts>(params, grid, problem.matmul, order, max_clusters, workspace, encode);
}

}  // namespace tw
