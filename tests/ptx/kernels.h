// Kernels that a test runs twice: as C++ on the virtual GPU, and as the PTX that nvcc makes of
// them.
#pragma once

#include "tilewright/arch/sm100.h"
#include "tilewright/arch/sm90.h"
#include "tilewright/family/matmul/kernel.h"

namespace tw::twice {

struct small_wgmma {
  static constexpr MatmulConfig config = {
      .tiling = {.m = 64, .n = 64}, .multiply_groups = 1, .dependent_launch = true};
};

// Pairs of CTAs multiply together, and take work of clusters that have not started.
struct tensor_pair {
  static constexpr MatmulConfig config = {.tiling = {.n = 128, .cluster = {2, 1}, .group = 2},
                                          .multiply_groups = 1,
                                          .scheduling = Scheduling::Dynamic};
};

using SmallWgmma = Matmul<Sm90, small_wgmma>;
using TensorPair = Matmul<Sm100, tensor_pair>;

}  // namespace tw::twice
