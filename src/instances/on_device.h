// Instances whose kernels are compiled for a GPU: CUDA launches them, or HIP.
#pragma once

#include <type_traits>

#include "src/instances/launcher.h"
#if TW_INSTANCE_WITH_CUDA
#include "tilewright/launch/cuda.h"
#endif
#if TW_INSTANCE_WITH_HIP
#include "tilewright/launch/hip.h"
#endif

namespace tw {

#if TW_INSTANCE_WITH_CUDA && TW_INSTANCE_WITH_HIP
template <class Planned>
using DeviceKernel = std::conditional_t<is_of_hip(Planned::target), HipKernel, CudaKernel>;
#elif TW_INSTANCE_WITH_CUDA
template <class Planned>
using DeviceKernel = CudaKernel;
#else
template <class Planned>
using DeviceKernel = HipKernel;
#endif

// `image` is an array of bytes: the compiled kernel, or a 0 where this build has none.
template <class Planned, const auto& image>
void add_device(Instance& instance) {
  using OnDevice = DeviceKernel<Planned>;
  static OnDevice kernel(typename OnDevice::Image{image}, Planned::needs);
  if (image[0] == 0) return;
  instance.workspace = [](std::size_t& bytes, const Checked& problem,
                          const LaunchOptions& options) {
    return workspace_on<Planned>(bytes, kernel, Planned::take(problem), options);
  };
  instance.launch = [](const Checked& problem, const LaunchOptions& options, void* stream) {
    return launch_on<Planned>(kernel, Planned::take(problem), options, stream);
  };
}

}  // namespace tw
