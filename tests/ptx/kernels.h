// Kernels that a test runs twice: as C++ on the virtual GPU, and as the PTX that nvcc makes of
// them.
#pragma once

#include "tilewright/arch/sm80.h"
#include "tilewright/arch/sm90.h"
#include "tilewright/family/matmul/kernel.h"
#include "tilewright/family/rms_norm/kernel.h"

namespace tw::twice {

struct small_norm {
  static constexpr RmsNormConfig config = {.pieces = 1};
};
struct dependent_norm {
  static constexpr RmsNormConfig config = {.pieces = 2, .dependent_launch = true};
};
struct small_mma {
  static constexpr MatmulConfig config = {.tiling = {.m = 64, .n = 64}, .multiply_groups = 1};
};
struct small_wgmma {
  static constexpr MatmulConfig config = {
      .tiling = {.m = 64, .n = 64}, .multiply_groups = 1, .dependent_launch = true};
};

using SmallNorm = RmsNorm<Sm80, small_norm>;
using DependentNorm = RmsNorm<Sm90, dependent_norm>;
using SmallMma = Matmul<Sm80, small_mma>;
using SmallWgmma = Matmul<Sm90, small_wgmma>;

}  // namespace tw::twice
