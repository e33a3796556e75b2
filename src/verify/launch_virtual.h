// Runs one instance on the virtual GPU.
#pragma once

#include "vgpu/simulate.h"

namespace tw {

template <class Parts>
Status simulate_matmul(const MatmulProblem& problem, const MatmulOrder& order,
                       const TraceBuffer& trace, const vgpu::Options& options,
                       vgpu::Report& report) {
  if (Status status = check(problem); !status.is_good()) return status;
  return simulate_planned<Parts>(
      problem, order, trace, options, report, TouchedMemory(problem),
      [&](auto& params, MatmulGrid& grid, unsigned max_clusters, const Workspace& workspace) {
        return plan<Parts>(params, grid, problem, order, max_clusters, workspace,
                           encode_for_virtual);
      });
}

}  // namespace tw
