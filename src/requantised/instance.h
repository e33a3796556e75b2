// The compiled instances of blockwise FP8 with a quantised D; src/requantised/CMakeLists.txt lists
// them.
#pragma once

#include <span>

#include "tilewright/host/matmul_order.h"
#include "tilewright/host/requantised.h"

namespace tw::vgpu {
struct Options;
struct Report;
}  // namespace tw::vgpu

namespace tw {

struct RequantisedInstance {
  const char* name;
  const char* target;  // "sm90a"
  MatmulConfig config;
  unsigned b_scale_rows;  // of B, that share a scale
  unsigned stages;
  // Null where the build has no CUDA toolkit. `stream` is a cudaStream_t. Nothing is allocated,
  // nothing waited for.
  Status (*launch)(const RequantisedProblem&, const MatmulOrder&, void* stream);
  // Null where the build has no virtual GPU.
  Status (*simulate)(const RequantisedProblem&, const MatmulOrder&, const vgpu::Options&,
                     vgpu::Report&);
};

std::span<const RequantisedInstance> requantised_instances();

}  // namespace tw
