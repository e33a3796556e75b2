// Runs one instance on the virtual GPU.
#pragma once

#include "vgpu/im2col_map.h"
#include "src/matmul/launch_virtual.h"
#include "tilewright/host/depthwise.h"

namespace tw {

struct EncodeForVirtual {
  Status operator()(TensorMap& map, const MatrixBox& box) const {
    return encode_for_virtual(map, box);
  }
  Status operator()(TensorMap& map, const Im2colBox& box) const {
    return encode_im2col_for_virtual(map, box);
  }
};

// What a convolution may touch, on whichever skeleton.
inline TouchedMemory touched_by(const Conv2dProblem& problem) {
  TouchedMemory touched(output_of(problem));
  const auto add = [&](const void* data, std::int64_t elements, const char* name) {
    touched.add(
        {data, static_cast<std::size_t>(elements) * bytes_of(problem.type), name, true, false});
  };
  const std::int64_t gradient = problem.n * problem.pixels() * problem.k;
  add(problem.image,
      problem.direction == Conv2dDirection::BackwardData
          ? gradient
          : problem.n * problem.image_pixels() * problem.c,
      "image");
  add(problem.filter,
      problem.direction == Conv2dDirection::BackwardFilter
          ? gradient
          : problem.k * problem.positions() * (problem.c / problem.groups),
      "filter");
  return touched;
}

// Of a problem that the kernel supports.
template <DepthwiseKernel Parts>
Status simulate_depthwise(const Conv2dProblem& problem, const vgpu::Options& options,
                          vgpu::Report& report) {
  if (problem.n * problem.pixels() * problem.k == 0) return Status::good();
  using Kernel = kernel::Streaming<Parts>;
  typename Kernel::Params params;
  unsigned ctas = 0;
  plan<Parts>(params, ctas, problem, options.sm_count);
  const vgpu::Launch launch = {ctas, 1, Kernel::threads, sizeof(typename Kernel::Storage),
                               [&params] { Kernel::run(params); }};
  report = vgpu::run(launch, touched_by(problem).ranges(), options);
  return Status::good();
}

template <class Parts>
Status simulate_conv2d(const Conv2dProblem& problem, const MatmulOrder& order,
                       const vgpu::Options& options, vgpu::Report& report) {
  if (Status status = supports<Parts>(problem, order); !status.is_good()) return status;
  if constexpr (DepthwiseKernel<Parts>) {
    return simulate_depthwise<Parts>(problem, options, report);
  } else {
    return simulate_planned<Parts>(
        as_matmul<Parts>(problem), order, {}, options, report, touched_by(problem),
        [&](auto& params, MatmulGrid& grid, unsigned max_clusters, const Workspace& workspace) {
          return plan<Parts>(params, grid, problem, order, max_clusters, workspace,
                             EncodeForVirtual{});
        });
  }
}

}  // namespace tw
