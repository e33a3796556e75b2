// An instance of the streaming skeleton: its launches on the current device and on the virtual
// GPU. A Launch says what its kernels support and plans for them: family/NAME/launch.h has it.
#pragma once

#include "src/instances/instance.h"
#include "tilewright/kernel/streaming.h"
#include "tilewright/launch/contracts.h"
#if TW_INSTANCE_WITH_CUDA || TW_INSTANCE_WITH_HIP
#include "src/instances/streaming_device.h"
#endif
#if TW_INSTANCE_WITH_VGPU
#include "src/instances/touched.h"
#include "vgpu/machine/machine.h"
#endif

namespace tw {

template <class>
constexpr unsigned cluster_of_streaming = 1;

template <class Launch, class Bound>
Status supports_streaming(const Checked& problem, const LaunchOptions&) {
  static_assert(plans_streams<Launch, Bound, typename kernel::Streaming<Bound>::Params>());
  return Launch::template supports<Bound>(problem);
}

#if TW_INSTANCE_WITH_CUDA || TW_INSTANCE_WITH_HIP
template <class Launch, class Bound>
Status workspace_streaming(std::size_t& bytes, DeviceStreaming<Bound>&, const Checked&,
                           const LaunchOptions&) {
  bytes = 0;
  return Status::good();
}

template <class Launch, class Bound>
Status launch_streaming(DeviceStreaming<Bound>& kernel, const Checked& problem,
                        const LaunchOptions& options, void* stream) {
  if (Status status = Launch::template supports<Bound>(problem); !status.is_good()) return status;
  if (problem.is_empty()) return Status::good();
  return kernel.launch(stream, [&](auto& params, unsigned& ctas, unsigned max_ctas) {
    Launch::template plan<Bound>(params, ctas, problem, max_ctas);
    if constexpr (Bound::Trace::records) params.trace = options.trace;
    return Status::good();
  });
}
#endif

#if TW_INSTANCE_WITH_VGPU
template <class Launch, class Bound>
Status simulate_streaming(const Checked& problem, const LaunchOptions& given,
                          const vgpu::Options& options, vgpu::Report& report) {
  using Kernel = kernel::Streaming<Bound>;
  if (Status status = Launch::template supports<Bound>(problem); !status.is_good()) return status;
  if (problem.is_empty()) return Status::good();
  typename Kernel::Params params;
  unsigned ctas = 0;
  Launch::template plan<Bound>(params, ctas, problem, options.sm_count);
  std::vector<vgpu::GlobalRange> touched = touched_by(problem);
  if constexpr (Bound::Trace::records) {
    params.trace = given.trace;
    add_trace(touched, given.trace, ctas);
  }
  const vgpu::Launch launch = {ctas,
                               1,
                               Kernel::threads,
                               sizeof(typename Kernel::Storage),
                               [&params] { Kernel::run(params); },
                               Bound::Target::target.lanes,
                               Kernel::dependent_launch,
                               0,
                               {},
                               std::as_bytes(std::span(&params, 1))};
  report = vgpu::run(launch, touched, options);
  return Status::good();
}
#endif

}  // namespace tw
