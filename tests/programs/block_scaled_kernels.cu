// Block-scaled kernels, instantiated: they must compile for sm_100a and sm_103a without
// spilling. Never run.
#include "tilewright/arch/sm100_scaled.h"
#include "tilewright/family/blockwise/kernel.h"
#include "tilewright/kernel/entry.h"

namespace tw {

struct Mxfp8 {
  static constexpr MatmulConfig config = {
      .tiling = {.n = 128, .a_type = ElementType::E4m3, .b_type = ElementType::E4m3},
      .multiply_groups = 1};
};
using Mxfp8Kernel =
    kernel::WarpSpecialized<Kernel<Sm100Scaled, BlockScaledBy<ScaleType::Ue8m0>, Mxfp8>>;
template __global__ void kernel::entry<Mxfp8Kernel>(const __grid_constant__ Mxfp8Kernel::Params);

// Two sums that overlap.
struct Mxfp8Pair {
  static constexpr MatmulConfig config = {.tiling = {.n = 256,
                                                     .a_type = ElementType::E5m2,
                                                     .b_type = ElementType::E4m3,
                                                     .cluster = {2, 1},
                                                     .group = 2},
                                          .multiply_groups = 1,
                                          .scheduling = Scheduling::Dynamic};
};
using Mxfp8PairKernel =
    kernel::WarpSpecialized<Kernel<Sm100Scaled, BlockScaledBy<ScaleType::Ue8m0>, Mxfp8Pair>>;
template __global__ void kernel::entry<Mxfp8PairKernel>(
    const __grid_constant__ Mxfp8PairKernel::Params);

struct Nvfp4 {
  static constexpr MatmulConfig config = {
      .tiling = {.n = 256, .a_type = ElementType::E2m1, .b_type = ElementType::E2m1},
      .multiply_groups = 1};
};
using Nvfp4Kernel =
    kernel::WarpSpecialized<Kernel<Sm100Scaled, BlockScaledBy<ScaleType::Ue4m3>, Nvfp4>>;
template __global__ void kernel::entry<Nvfp4Kernel>(const __grid_constant__ Nvfp4Kernel::Params);

// Scales that are exponents of float32 ones.
using ExponentsKernel = kernel::WarpSpecialized<Kernel<Sm100Scaled, ScaledByExponents<128>, Mxfp8>>;
template __global__ void kernel::entry<ExponentsKernel>(
    const __grid_constant__ ExponentsKernel::Params);

}  // namespace tw
