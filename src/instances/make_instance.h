// Instances of kernels of one's own, made where they are compiled. A Launch plans for them, as
// those of family/NAME/launch.h do. An `image`, where there is one, is the array of bytes that
// tilewright_kernel_image of the package makes: the kernel, compiled for a GPU.
#pragma once

#ifndef TW_INSTANCE_WITH_CUDA
#define TW_INSTANCE_WITH_CUDA 0
#endif
#ifndef TW_INSTANCE_WITH_HIP
#define TW_INSTANCE_WITH_HIP 0
#endif
#ifndef TW_INSTANCE_WITH_VGPU
#define TW_INSTANCE_WITH_VGPU 1
#endif
#if TW_INSTANCE_WITH_CUDA || TW_INSTANCE_WITH_HIP
#include "src/instances/on_device.h"
#else
#include "src/instances/launcher.h"
#endif
#include "src/instances/structure_of.h"

namespace tw {

namespace detail {

template <class Planned, const auto&... image>
Instance own_instance(const char* name) {
  Instance made = instance_on_host<Planned>(name);
#if TW_INSTANCE_WITH_CUDA || TW_INSTANCE_WITH_HIP
  (add_device<Planned, image>(made), ...);
#else
  static_assert(sizeof...(image) == 0,
                "An image wants TW_INSTANCE_WITH_CUDA or _HIP defined as 1.");
#endif
  return made;
}

}  // namespace detail

// `Kernel` is a Kernel<Target, Recipe, Named>.
template <class Launch, class Kernel, const auto&... image>
Instance warp_specialized_instance(const char* name) {
  static const KnownStructures known({{name, &structure_of_warp_specialized<Kernel>}});
  return detail::own_instance<LaunchWarpSpecialized<Launch, Kernel>, image...>(name);
}

template <class Launch, class Kernel, const auto&... image>
Instance streaming_instance(const char* name) {
  static const KnownStructures known({{name, &structure_of_streaming<Kernel>}});
  return detail::own_instance<LaunchStreaming<Launch, Kernel>, image...>(name);
}

}  // namespace tw
