// The function of every kernel that a GPU is told to run.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/grid.h"

namespace tw::kernel {

// How many CTAs of a kernel an SM must hold, which bounds their registers: one, if it does not say.
template <class Kernel>
constexpr unsigned least_ctas() {
  if constexpr (requires { Kernel::least_ctas; }) return Kernel::least_ctas;
  return 1;
}

// How many CTAs a cluster of a kernel has: one, if it does not say.
template <class Kernel>
constexpr unsigned cluster_size() {
  if constexpr (requires { Kernel::cluster_size; }) return Kernel::cluster_size;
  return 1;
}

#if defined(__HIP__)

// All waves of a workgroup are on one CU at once, on its four SIMDs, and share their registers.
template <class Kernel>
constexpr unsigned waves_of_simd() {
  return least_ctas<Kernel>() * Kernel::threads / 256;
}

template <class Kernel>
__attribute__((global, amdgpu_flat_work_group_size(Kernel::threads, Kernel::threads),
               amdgpu_waves_per_eu(waves_of_simd<Kernel>(), waves_of_simd<Kernel>()))) void
entry(const typename Kernel::Params) {
  Kernel::run(isa::arguments<typename Kernel::Params>());
}

#else

template <class Kernel>
requires(cluster_size<Kernel>() == 1) __global__
    void __launch_bounds__(Kernel::threads, least_ctas<Kernel>())
        entry(const __grid_constant__ typename Kernel::Params params) {
  Kernel::run(params);
}

// The compiler then knows that there is a cluster: it need not ask before a CTA arrives there. A
// launch names the same size, and no other.
template <class Kernel>
requires(cluster_size<Kernel>() > 1) __global__ void TW_CLUSTER(cluster_size<Kernel>())
    __launch_bounds__(Kernel::threads, least_ctas<Kernel>())
        entry(const __grid_constant__ typename Kernel::Params params) {
  Kernel::run(params);
}

#endif

}  // namespace tw::kernel
