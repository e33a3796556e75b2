// The compiled instances of the conv2d kernel; src/conv2d/CMakeLists.txt lists them.
#pragma once

#include <span>

#include "tilewright/host/conv2d_problem.h"
#include "tilewright/host/matmul_order.h"

namespace tw::vgpu {
struct Options;
struct Report;
}  // namespace tw::vgpu

namespace tw {

struct Conv2dInstance {
  const char* name;
  const char* target;  // "sm90a"
  MatmulConfig config;
  bool by_threads;    // loaded by them, not by TMA: slower, and takes anything
  bool depthwise;     // takes one channel in each group only, and streams
  bool spans_groups;  // a tile's columns may be of several groups
  unsigned stages;
  // Why this kernel cannot compute a problem in this order; good if it can.
  Status (*supports)(const Conv2dProblem&, const MatmulOrder&);
  // Null where the build has no CUDA toolkit. `stream` is a cudaStream_t. Nothing is allocated,
  // nothing waited for.
  Status (*workspace)(std::size_t& bytes, const Conv2dProblem&, const MatmulOrder&);
  Status (*launch)(const Conv2dProblem&, const MatmulOrder&, const Workspace&, void* stream);
  // Null where the build has no virtual GPU.
  Status (*simulate)(const Conv2dProblem&, const MatmulOrder&, const vgpu::Options&, vgpu::Report&);
};

std::span<const Conv2dInstance> conv2d_instances();

// What its operands tell.
constexpr Conv2dDirection direction_of(const MatmulConfig& config) {
  if (config.tiling.b_major == Major::K) return Conv2dDirection::Forward;
  return config.tiling.a_major == Major::K ? Conv2dDirection::BackwardData
                                           : Conv2dDirection::BackwardFilter;
}

}  // namespace tw
