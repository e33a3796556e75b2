// Launches a kernel on a machine: by CUDA, by HIP or on the virtual GPU. A machine's class
// (CudaKernel, HipKernel, VirtualKernel) says how many clusters it holds, has an Encode for
// descriptors of TMA, and launches; LaunchWarpSpecialized and LaunchStreaming say what.
#pragma once

#include "src/instances/instance.h"
#include "src/instances/launch_streaming.h"
#include "src/instances/launch_warp_specialized.h"
#if TW_INSTANCE_WITH_VGPU
#include "vgpu/simulate.h"
#endif

namespace tw {

// Bytes of the workspace of the current device.
template <class Planned, class OnMachine>
Status workspace_on(std::size_t& bytes, OnMachine& kernel, const KernelProblem& problem,
                    const LaunchOptions& options) {
  bytes = 0;
  if (Planned::is_empty(problem)) return Status::good();
  return Planned::workspace(bytes, problem, options.order, [&kernel](unsigned& clusters) {
    return kernel.max_active_clusters(clusters);
  });
}

template <class Planned, class OnMachine>
Status launch_on(OnMachine& kernel, const KernelProblem& problem, const LaunchOptions& options,
                 void* stream) {
  if (Planned::is_empty(problem)) return Status::good();
  unsigned clusters = 0, ctas = 0;
  if (Status asked = kernel.max_active_clusters(clusters); !asked.is_good()) return asked;
  typename Planned::Params params;
  Status planned =
      Planned::plan(params, ctas, problem, options, clusters, typename OnMachine::Encode{});
  if (!planned.is_good()) return planned;
  if constexpr (Planned::records) params.trace = options.trace;
  unsigned cluster = 0;
  if constexpr (requires { Planned::cluster_of(params); }) cluster = Planned::cluster_of(params);
  return kernel.launch(params, ctas, stream, Planned::runs_at_once(params), cluster);
}

#if TW_INSTANCE_WITH_VGPU
// With a workspace of its own.
template <class Planned>
Status simulate(const Checked& checked, const LaunchOptions& given, const vgpu::Options& machine,
                vgpu::Report& report) {
  const KernelProblem problem = Planned::take(checked);
  VirtualKernel<typename Planned::Skeleton> kernel(Planned::needs, machine, report);
  std::size_t bytes = 0;
  if (Status asked = workspace_on<Planned>(bytes, kernel, problem, given); !asked.is_good()) {
    return asked;
  }
  VirtualWorkspace workspace(bytes, Planned::has_counters_apart);
  kernel.touched = touched_by(checked);
  workspace.add_to(kernel.touched);
  if constexpr (Planned::records) kernel.traces(given.trace, Planned::tracks);
  LaunchOptions options = given;
  options.workspace = workspace.workspace();
  const Status launched = launch_on<Planned>(kernel, problem, options, nullptr);
  workspace.check(report);
  return launched;
}
#endif

// What every build has of it: no kernel is compiled for a GPU.
template <class Planned>
Instance instance_on_host(const char* name) {
  static_assert(Planned::needs.ptx_end == 0 || Planned::needs.shared_bytes <= ptx_shared_bytes,
                "Devices that compile a kernel's PTX have 99 KB of shared memory for a CTA.");
  Instance made = {name,           Planned::target.name, Planned::needs.cluster_size,
                   Planned::facts, Planned::take,        Planned::takes};
#if TW_INSTANCE_WITH_VGPU
  made.simulate = simulate<Planned>;
#endif
  made.capability_end = Planned::target.capability_end;
  return made;
}

}  // namespace tw
