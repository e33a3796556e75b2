// The __global__ function of every kernel on an NVIDIA GPU.
#pragma once

namespace tw::kernel {

template <class Kernel>
__global__ void __launch_bounds__(Kernel::threads, 1)
    entry(const __grid_constant__ typename Kernel::Params params) {
  Kernel::run(params);
}

}  // namespace tw::kernel
