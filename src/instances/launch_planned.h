// Launches of warp-specialised kernels that are no products: the Launch's plan is all that there
// is.
#pragma once

#include "src/instances/instance.h"
#include "tilewright/kernel/warp_specialized.h"
#include "tilewright/launch/contracts.h"
#include "tilewright/pipeline/ring_traces.h"
#if TW_INSTANCE_WITH_CUDA || TW_INSTANCE_WITH_HIP
#include "src/instances/device_kernel.h"
#endif
#if TW_INSTANCE_WITH_VGPU
#include "src/instances/touched.h"
#endif

namespace tw {

#if TW_INSTANCE_WITH_CUDA || TW_INSTANCE_WITH_HIP
template <class Bound>
class DevicePlanned {
  using Kernel = kernel::WarpSpecialized<Bound>;
  using OnDevice = typename DeviceFor<Bound>::Kernel;

 public:
  explicit DevicePlanned(const void* image)
      : kernel_(typename OnDevice::Image{image},
                {Bound::config.tiling.cluster.size(), Bound::in_clusters,
                 Bound::Target::target.capability_begin, Bound::Target::target.capability_end,
                 Kernel::threads, sizeof(typename Kernel::Storage), Bound::dependent_launch}) {}

  // make_plan(params, grid, max_clusters) plans the launch.
  template <class MakePlan>
  Status launch(void* stream, const MakePlan& make_plan) {
    unsigned clusters = 0;
    if (Status asked = kernel_.max_active_clusters(clusters); !asked.is_good()) return asked;
    typename Kernel::Params params;
    MatmulGrid grid = {};
    if (Status planned = make_plan(params, grid, clusters); !planned.is_good()) return planned;
    return kernel_.launch(params, grid.ctas, static_cast<typename OnDevice::Stream>(stream));
  }

 private:
  OnDevice kernel_;
};

template <class Launch, class Bound>
Status workspace_warp_specialized(std::size_t& bytes, DevicePlanned<Bound>&, const Checked& problem,
                                  const LaunchOptions&) {
  static_assert(asks_for_workspace<Launch, Bound>());
  bytes = problem.is_empty() ? 0 : Launch::template workspace<Bound>(problem);
  return Status::good();
}

template <class Launch, class Bound>
Status launch_warp_specialized(DevicePlanned<Bound>& kernel, const Checked& problem,
                               const LaunchOptions& options, void* stream) {
  if (problem.is_empty()) return Status::good();
  return kernel.launch(stream, [&](auto& params, auto& grid, unsigned clusters) {
    const Status planned =
        Launch::template plan<Bound>(params, grid, problem, options.order, clusters,
                                     options.workspace, typename DeviceFor<Bound>::Encode{});
    if constexpr (Bound::Trace::records) params.trace = options.trace;
    return planned;
  });
}
#endif

#if TW_INSTANCE_WITH_VGPU
template <class Launch, class Bound>
Status simulate_own_plan(const Checked& problem, const LaunchOptions& options,
                         const vgpu::Options& machine, vgpu::Report& report) {
  static_assert(asks_for_workspace<Launch, Bound>());
  using Kernel = kernel::WarpSpecialized<Bound>;
  typename Kernel::Params params;
  MatmulGrid grid = {};
  const unsigned max_clusters = machine.sm_count / Bound::config.tiling.cluster.size();
  // Counters lie apart, as those of captured calls do.
  std::vector<std::uint64_t> memory((Launch::template workspace<Bound>(problem) + 7) / 8);
  std::vector<std::uint64_t> counters(memory.empty() ? 0 : workspace_counter_bytes / 8);
  const Workspace workspace = {memory.data(), memory.size() * 8, counters.data()};
  Status planned = Launch::template plan<Bound>(params, grid, problem, options.order, max_clusters,
                                                workspace, encode_for_virtual);
  if (!planned.is_good()) return planned;
  std::vector<vgpu::GlobalRange> touched = touched_by(problem);
  if constexpr (Bound::Trace::records) {
    params.trace = options.trace;
    add_trace(touched, options.trace,
              grid.ctas * Kernel::tracks * tracks_of_role<typename Bound::Trace>);
  }
  if (!counters.empty()) {
    touched.push_back({counters.data(), workspace_counter_bytes, "counters", true, true});
    touched.push_back({memory.data(), workspace.bytes, "parts", false, true});
  }
  const vgpu::Launch launch = {grid.ctas,
                               grid.cluster_size,
                               grid.threads,
                               grid.shared_bytes,
                               [&params] { Kernel::run(params); },
                               Bound::Target::target.lanes,
                               Bound::dependent_launch,
                               launched_registers<Bound>(),
                               {},
                               std::as_bytes(std::span(&params, 1))};
  report = vgpu::run(launch, touched, machine);
  const auto is_set = [](std::uint64_t bits) { return bits != 0; };
  if (report.verdict() == vgpu::Report::Clean &&
      std::any_of(counters.begin(), counters.end(), is_set)) {
    report.incomplete.push_back("The counters of the workspace are not zero after the launch.");
  }
  return Status::good();
}
#endif

}  // namespace tw
