// Runs one instance on the virtual GPU.
#pragma once

#include "src/matmul/launch_virtual.h"
#include "tilewright/host/conv2d.h"

namespace tw {

struct EncodeForVirtual {
  Status operator()(TensorMap& map, const MatrixBox& box) const {
    return encode_for_virtual(map, box);
  }
  Status operator()(TensorMap& map, const Im2colBox& box) const {
    return encode_im2col_for_virtual(map, box);
  }
};

template <class Parts>
Status simulate_conv2d(const Conv2dProblem& problem, const MatmulOrder& order,
                       const vgpu::Options& options, vgpu::Report& report) {
  if (Status status = supports<Parts>(problem, order); !status.is_good()) return status;
  // What is read are the image and the filter, not the operands of the matmul.
  const MatmulProblem matmul = as_matmul<Parts>(problem);
  Conv2dProblem whole = problem;
  whole.groups = 1;
  MatmulProblem outputs = as_matmul(whole, 1);
  outputs.k = 0;
  TouchedMemory touched(outputs);
  const auto pixels = static_cast<std::size_t>(problem.n * problem.depth.extent * problem.h.extent *
                                               problem.w.extent);
  const auto filters = static_cast<std::size_t>(problem.k * problem.positions());
  const std::size_t bytes = static_cast<std::size_t>(problem.c) * bytes_of(problem.type);
  const std::size_t filter_bytes = bytes / static_cast<std::size_t>(problem.groups);
  touched.add({problem.image, pixels * bytes, "image", true, false});
  touched.add({problem.filter, filters * filter_bytes, "filter", true, false});
  return simulate_planned<Parts>(
      matmul, order, {}, options, report, touched,
      [&](auto& params, MatmulGrid& grid, unsigned max_clusters, const Workspace& workspace) {
        return plan<Parts>(params, grid, problem, order, max_clusters, workspace,
                           EncodeForVirtual{});
      });
}

}  // namespace tw
