// Runs one instance on the virtual GPU.
#pragma once

#include "src/blockwise_fp8/launch_virtual.h"
#include "tilewright/host/requantised.h"

namespace tw {

template <class Parts, unsigned b_scale_rows>
Status simulate_requantised(const RequantisedProblem& problem, const MatmulOrder& order,
                            const vgpu::Options& options, vgpu::Report& report) {
  if (Status status = check(problem, b_scale_rows); !status.is_good()) return status;
  const MatmulProblem& matmul = problem.product.matmul;
  TouchedMemory touched = touched_by(problem.product);
  if (std::min({matmul.m, matmul.n, matmul.batch}) > 0) {
    const bool by_k = problem.major == Major::K;
    const std::int64_t elements = (matmul.batch - 1) * problem.batch_pitch +
                                  ((by_k ? matmul.m : problem.blocks()) - 1) * problem.pitch +
                                  (by_k ? problem.blocks() : matmul.m);
    touched.add({problem.scales, static_cast<std::size_t>(elements) * 4, "D's scales", false});
  }
  return simulate_planned<Parts>(
      matmul, order, {}, options, report, touched,
      [&](auto& params, MatmulGrid& grid, unsigned max_clusters, const Workspace& workspace) {
        return plan<Parts>(params, grid, problem, order, max_clusters, workspace,
                           encode_for_virtual);
      });
}

}  // namespace tw
