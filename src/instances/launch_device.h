// Launches one instance on the current device.
#pragma once

#include "src/instances/device_kernel.h"
#include "tilewright/family/matmul/launch.h"

namespace tw {

template <class Parts>
class DeviceMatmul {
  using Kernel = kernel::WarpSpecialized<Parts>;
  using OnDevice = typename DeviceFor<Parts>::Kernel;

 public:
  explicit DeviceMatmul(const void* image)
      : kernel_(typename OnDevice::Image{image},
                {Parts::config.tiling.cluster.size(), Parts::in_clusters,
                 Parts::Target::target.capability_begin, Parts::Target::target.capability_end,
                 Kernel::threads, sizeof(typename Kernel::Storage), Parts::dependent_launch}) {}

  Status workspace(std::size_t& bytes, const MatmulProblem& problem, const LaunchOrder& order) {
    bytes = 0;
    if (problem.m == 0 || problem.n == 0 || problem.batch == 0) return Status::good();
    unsigned clusters = 0;
    if (Status asked = kernel_.max_active_clusters(clusters); !asked.is_good()) return asked;
    bytes = workspace_bytes<Parts>(problem, order, clusters);
    return Status::good();
  }

  // `make_plan` plans the launch, as plan() does.
  template <class MakePlan>
  Status launch_planned(const MatmulProblem& problem, const TraceBuffer& trace, void* stream,
                        const MakePlan& make_plan) {
    if (problem.m == 0 || problem.n == 0 || problem.batch == 0) return Status::good();
    unsigned clusters = 0;
    if (Status asked = kernel_.max_active_clusters(clusters); !asked.is_good()) return asked;
    typename Kernel::Params params;
    MatmulGrid grid = {};
    if (Status planned = make_plan(params, grid, clusters); !planned.is_good()) return planned;
    if constexpr (Parts::config.tracing == Tracing::On) params.trace = trace;
    const auto on = static_cast<typename OnDevice::Stream>(stream);
    if constexpr (Parts::config.finishers != 1) {
      return kernel_.launch(params, grid.ctas, on, params.reduction.finishers > 1);
    }
    return kernel_.launch(params, grid.ctas, on);
  }

 private:
  OnDevice kernel_;
};

}  // namespace tw
