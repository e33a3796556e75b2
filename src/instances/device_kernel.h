// What launches the kernels of a target: the run-time library of its vendor.
#pragma once

#include <type_traits>

#include "tilewright/launch/device_kernel.h"
#include "tilewright/launch/tensor_map.h"
#if TW_INSTANCE_WITH_CUDA
#include "tilewright/launch/cuda.h"
#endif
#if TW_INSTANCE_WITH_HIP
#include "tilewright/launch/hip.h"
#endif

namespace tw {

// Kernel launches, Encode makes descriptors of TMA.
template <bool by_hip>
struct DeviceOf;

#if TW_INSTANCE_WITH_CUDA
template <>
struct DeviceOf<false> {
  using Kernel = CudaKernel;
  struct Encode {
    Status operator()(TensorMap& map, const MatrixBox& box) const {
      return encode_for_cuda(map, box);
    }
    Status operator()(TensorMap& map, const Im2colBox& box) const {
      return encode_im2col_for_cuda(map, box);
    }
  };
};
#endif

#if TW_INSTANCE_WITH_HIP
template <>
struct DeviceOf<true> {
  using Kernel = HipKernel;
  struct Encode {
    template <class Box>
    Status operator()(TensorMap&, const Box&) const {
      return Status::refused("An AMD GPU has no TMA.");
    }
  };
};
#endif

template <class Bound>
using DeviceFor = DeviceOf<is_of_hip(Bound::Target::target)>;

}  // namespace tw
