// Runs one instance on the virtual GPU.
#pragma once

#include "src/matmul/launch_virtual.h"
#include "tilewright/host/blockwise_fp8.h"

namespace tw {

inline TouchedMemory touched_by(const BlockwiseProblem& problem) {
  const MatmulProblem& matmul = problem.matmul;
  TouchedMemory touched(matmul);
  const auto add = [&](const ScaleTensor& scales, const char* name) {
    if (std::min({matmul.m, matmul.n, matmul.k, matmul.batch}) == 0) return;
    touched.operand(scales.tensor, scales.rows, scales.k_blocks, name);
  };
  add(problem.a_scales, "A's scales");
  add(problem.b_scales, "B's scales");
  return touched;
}

template <class Parts, unsigned b_scale_rows>
Status simulate_blockwise(const BlockwiseProblem& problem, const MatmulOrder& order,
                          const vgpu::Options& options, vgpu::Report& report) {
  if (Status status = check(problem, b_scale_rows); !status.is_good()) return status;
  return simulate_planned<Parts>(
      problem.matmul, order, {}, options, report, touched_by(problem),
      [&](auto& params, MatmulGrid& grid, unsigned max_clusters, const Workspace& workspace) {
        return plan<Parts>(params, grid, problem, order, max_clusters, workspace,
                           encode_for_virtual);
      });
}

}  // namespace tw
