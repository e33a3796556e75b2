// An instance of the warp-specialised skeleton: its launches on the current device and on the
// virtual GPU. A Launch tells the product that a problem is, to all kernels or to one (product or
// product<Bound>), and plans for kernels: it stands in family/NAME/launch.h.
#pragma once

#include <cstdint>

#include "src/instances/instance.h"
#include "src/instances/launch_planned.h"
#include "tilewright/launch/contracts.h"
#include "tilewright/launch/product.h"
#if TW_INSTANCE_WITH_CUDA || TW_INSTANCE_WITH_HIP
#include "src/instances/launch_device.h"
#endif
#if TW_INSTANCE_WITH_VGPU
#include "src/instances/touched.h"
#include "vgpu/im2col_map.h"
#endif

namespace tw {

template <class Bound>
constexpr unsigned cluster_of_warp_specialized = Bound::config.tiling.cluster.size();

// A matmul says how its sums are split.
template <class Bound>
constexpr bool is_product = requires {
  Bound::config.split;
};

template <class Launch, class Bound>
MatmulProblem product_for(const Checked& problem) {
  if constexpr (requires { Launch::template product<Bound>(problem); }) {
    return Launch::template product<Bound>(problem);
  } else {
    return Launch::product(problem);
  }
}

// Asks the Launch, or makes a plan that nobody launches, with whatever workspace it needs.
template <class Launch, class Bound>
Status supports_warp_specialized(const Checked& problem, const LaunchOptions& options) {
  static_assert(plans_grids<Launch, Bound, typename kernel::WarpSpecialized<Bound>::Params>());
  if (problem.is_empty()) return Status::good();
  if constexpr (requires { Launch::template supports<Bound>(problem, options.order); }) {
    return Launch::template supports<Bound>(problem, options.order);
  }
  typename kernel::WarpSpecialized<Bound>::Params params;
  MatmulGrid grid;
  return Launch::template plan<Bound>(params, grid, problem, options.order, 1, {nullptr, SIZE_MAX},
                                      EncodeNothing{});
}

#if TW_INSTANCE_WITH_CUDA || TW_INSTANCE_WITH_HIP
template <class Bound>
using DeviceWarpSpecialized =
    std::conditional_t<is_product<Bound>, DeviceMatmul<Bound>, DevicePlanned<Bound>>;

template <class Launch, class Bound>
Status workspace_warp_specialized(std::size_t& bytes, DeviceMatmul<Bound>& kernel,
                                  const Checked& problem, const LaunchOptions& options) {
  bytes = 0;
  if (problem.is_empty()) return Status::good();
  return kernel.workspace(bytes, product_for<Launch, Bound>(problem), options.order);
}

template <class Launch, class Bound>
Status launch_warp_specialized(DeviceMatmul<Bound>& kernel, const Checked& problem,
                               const LaunchOptions& options, void* stream) {
  if (problem.is_empty()) return Status::good();
  return kernel.launch_planned(product_for<Launch, Bound>(problem), options.trace, stream,
                               [&](auto& params, auto& grid, unsigned clusters) {
                                 return Launch::template plan<Bound>(
                                     params, grid, problem, options.order, clusters,
                                     options.workspace, typename DeviceFor<Bound>::Encode{});
                               });
}
#endif

#if TW_INSTANCE_WITH_VGPU
struct EncodeForVirtual {
  Status operator()(TensorMap& map, const MatrixBox& box) const {
    return encode_for_virtual(map, box);
  }
  Status operator()(TensorMap& map, const Im2colBox& box) const {
    return encode_im2col_for_virtual(map, box);
  }
};

template <class Launch, class Bound>
Status simulate_warp_specialized(const Checked& problem, const LaunchOptions& options,
                                 const vgpu::Options& machine, vgpu::Report& report) {
  if (problem.is_empty()) return Status::good();
  if constexpr (!is_product<Bound>) {
    return simulate_own_plan<Launch, Bound>(problem, options, machine, report);
  } else {
    return simulate_planned<Bound>(
        product_for<Launch, Bound>(problem), options.order, options.trace, machine, report,
        TouchedMemory(touched_by(problem)),
        [&](auto& params, MatmulGrid& grid, unsigned max_clusters, const Workspace& workspace) {
          return Launch::template plan<Bound>(params, grid, problem, options.order, max_clusters,
                                              workspace, EncodeForVirtual{});
        });
  }
}
#endif

}  // namespace tw
