// The __global__ function of every kernel on an NVIDIA GPU.
#pragma once

namespace tw::kernel {

// How many CTAs of a kernel an SM must hold, which bounds their registers: one, if it does not say.
template <class Kernel>
constexpr unsigned least_ctas() {
  if constexpr (requires { Kernel::least_ctas; }) return Kernel::least_ctas;
  return 1;
}

template <class Kernel>
__global__ void __launch_bounds__(Kernel::threads, least_ctas<Kernel>())
    entry(const __grid_constant__ typename Kernel::Params params) {
  Kernel::run(params);
}

}  // namespace tw::kernel
