// Launches one instance of the streaming skeleton on the current device.
#pragma once

#include "src/instances/device_kernel.h"
#include "tilewright/kernel/streaming.h"

namespace tw {

template <class Parts>
class DeviceStreaming {
  using Kernel = kernel::Streaming<Parts>;
  using OnDevice = typename DeviceFor<Parts>::Kernel;

 public:
  explicit DeviceStreaming(const void* image)
      : kernel_(
            typename OnDevice::Image{image},
            {1, false, Parts::Target::target.capability_begin, Parts::Target::target.capability_end,
             Kernel::threads, sizeof(typename Kernel::Storage), Kernel::dependent_launch}) {}

  // make_plan(params, ctas, max_ctas) plans the launch.
  template <class MakePlan>
  Status launch(void* stream, const MakePlan& make_plan) {
    unsigned max_ctas = 0, ctas = 0;
    if (Status asked = kernel_.max_active_clusters(max_ctas); !asked.is_good()) return asked;
    typename Kernel::Params params;
    if (Status planned = make_plan(params, ctas, max_ctas); !planned.is_good()) return planned;
    return kernel_.launch(params, ctas, static_cast<typename OnDevice::Stream>(stream));
  }

 private:
  OnDevice kernel_;
};

}  // namespace tw
