// An instance of the warp-specialised skeleton: its launches on the current CUDA device and on the
// virtual GPU. A Launch tells the product that a problem is and plans for kernels: host/grouped.h
// is one.
#pragma once

#include "src/family/instance.h"
#include "tilewright/host/matmul.h"
#if TW_INSTANCE_WITH_CUDA
#include "src/matmul/launch_cuda.h"
#endif
#if TW_INSTANCE_WITH_VGPU
#include "src/family/touched.h"
#endif

namespace tw {

template <class Bound>
constexpr unsigned cluster_of_warp_specialized = Bound::config.tiling.cluster.size();

// As a plan says it that nobody launches.
template <class Launch, class Bound>
Status supports_warp_specialized(const Checked& problem, const LaunchOptions& options) {
  if (problem.is_empty()) return Status::good();
  typename kernel::WarpSpecialized<Bound>::Params params;
  MatmulGrid grid;
  return Launch::template plan<Bound>(params, grid, problem, options.order, 1, options.workspace,
                                      [](TensorMap&, const MatrixBox&) { return Status::good(); });
}

#if TW_INSTANCE_WITH_CUDA
template <class Bound>
using CudaWarpSpecialized = CudaMatmul<Bound>;

template <class Launch, class Bound>
Status launch_warp_specialized(CudaMatmul<Bound>& kernel, const Checked& problem,
                               const LaunchOptions& options, void* stream) {
  if (problem.is_empty()) return Status::good();
  return kernel.launch_planned(
      Launch::product(problem), {}, stream, [&](auto& params, auto& grid, unsigned clusters) {
        return Launch::template plan<Bound>(params, grid, problem, options.order, clusters,
                                            options.workspace, encode_for_cuda);
      });
}
#endif

#if TW_INSTANCE_WITH_VGPU
template <class Launch, class Bound>
Status simulate_warp_specialized(const Checked& problem, const LaunchOptions& options,
                                 const vgpu::Options& machine, vgpu::Report& report) {
  if (problem.is_empty()) return Status::good();
  return simulate_planned<Bound>(
      Launch::product(problem), options.order, {}, machine, report,
      TouchedMemory(touched_by(problem)),
      [&](auto& params, MatmulGrid& grid, unsigned max_clusters, const Workspace& workspace) {
        return Launch::template plan<Bound>(params, grid, problem, options.order, max_clusters,
                                            workspace, encode_for_virtual);
      });
}
#endif

}  // namespace tw
