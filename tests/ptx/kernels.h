// Kernels that a test runs twice: as C++ on the virtual GPU, and as the PTX that nvcc makes of
// them.
#pragma once

#include "tilewright/arch/sm100.h"
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

// Two groups take turns; TMA brings B once for the CTAs of a cluster.
struct taking_turns {
  static constexpr MatmulConfig config = {.tiling = {.n = 128, .cluster = {2, 1}},
                                          .consumers = Consumers::PingPong};
};
// The CTAs of a cluster share k, and add up in one's shared memory.
struct cluster_split {
  static constexpr MatmulConfig config = {.tiling = {.m = 64, .n = 64, .cluster = {1, 1, 2}},
                                          .multiply_groups = 1,
                                          .split = Split::Cluster};
};
// Clusters share tiles, and wait for each other by counters in global memory.
struct stream_split {
  static constexpr MatmulConfig config = {
      .tiling = {.m = 64, .n = 64}, .multiply_groups = 1, .split = Split::Stream};
};
struct small_tensor {
  static constexpr MatmulConfig config = {.tiling = {.n = 128}, .multiply_groups = 1};
};
// Pairs of CTAs multiply together, and take work of clusters that have not started.
struct tensor_pair {
  static constexpr MatmulConfig config = {.tiling = {.n = 128, .cluster = {2, 1}, .group = 2},
                                          .multiply_groups = 1,
                                          .scheduling = Scheduling::Dynamic};
};

using SmallNorm = RmsNorm<Sm80, small_norm>;
using DependentNorm = RmsNorm<Sm90, dependent_norm>;
using SmallMma = Matmul<Sm80, small_mma>;
using SmallWgmma = Matmul<Sm90, small_wgmma>;
using TakingTurns = Matmul<Sm90, taking_turns>;
using ClusterSplit = Matmul<Sm90, cluster_split>;
using StreamSplit = Matmul<Sm90, stream_split>;
using SmallTensor = Matmul<Sm100, small_tensor>;
using TensorPair = Matmul<Sm100, tensor_pair>;

}  // namespace tw::twice
