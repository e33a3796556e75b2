// Runs one instance on the virtual GPU.
#pragma once

#include "src/matmul/launch_virtual.h"
#include "tilewright/host/grouped.h"

namespace tw {

template <class Parts>
Status simulate_grouped(const GroupedProblem& problem, const MatmulOrder& order,
                        const vgpu::Options& options, vgpu::Report& report) {
  if (Status status = check(problem); !status.is_good()) return status;
  const MatmulProblem batch = as_batch(problem);
  TouchedMemory touched(batch, problem.a_rows > 0 ? problem.a_rows : batch.m);
  touched.add({problem.rows, static_cast<std::size_t>(batch.batch) * 4, "groups", true, false});
  if (problem.a_rows > 0) {
    touched.add(
        {problem.row_index, static_cast<std::size_t>(batch.m) * 4, "row index", true, false});
  }
  // family blockwise: begin
  if (batch.k > 0 && problem.a_scales.tensor.data != nullptr) {
    MatmulOperand of_all = problem.a_scales.tensor;
    of_all.batch_pitch = 0;
    touched.operand(of_all, problem.a_scales.rows, problem.a_scales.k_blocks, "A's scales");
    touched.operand(problem.b_scales.tensor, problem.b_scales.rows, problem.b_scales.k_blocks,
                    "B's scales");
  }
  // family blockwise: end
  return simulate_planned<Parts>(
      batch, order, {}, options, report, touched,
      [&](auto& params, MatmulGrid& grid, unsigned max_clusters, const Workspace& workspace) {
        return plan<Parts>(params, grid, problem, order, max_clusters, workspace,
                           encode_for_virtual);
      });
}

}  // namespace tw
