// Instances of kernels of one's own, made where they are compiled. A Launch plans for them, as
// those of family/NAME/launch.h do.
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
#include "src/instances/launch_streaming.h"
#include "src/instances/launch_warp_specialized.h"
#include "src/instances/structure_of.h"

namespace tw {

// `Bound` is a Kernel<Target, Recipe, Named>.
template <class Launch, class Bound>
Instance warp_specialized_instance(const char* name) {
  static const KnownStructures known({{name, &structure_of_warp_specialized<Bound>}});
  return {name,
          Bound::Target::target.name,
          cluster_of_warp_specialized<Bound>,
          &Launch::template facts<Bound>,
          supports_warp_specialized<Launch, Bound>,
          nullptr,
          nullptr,
          simulate_warp_specialized<Launch, Bound>};
}

template <class Launch, class Bound>
Instance streaming_instance(const char* name) {
  static const KnownStructures known({{name, &structure_of_streaming<Bound>}});
  return {name,
          Bound::Target::target.name,
          cluster_of_streaming<Bound>,
          &Launch::template facts<Bound>,
          supports_streaming<Launch, Bound>,
          nullptr,
          nullptr,
          simulate_streaming<Launch, Bound>};
}

}  // namespace tw
