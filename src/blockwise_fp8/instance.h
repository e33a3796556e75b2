// The compiled instances of the blockwise FP8 kernel; src/blockwise_fp8/CMakeLists.txt lists them.
#pragma once

#include <span>

#include "tilewright/host/blockwise_problem.h"
#include "tilewright/host/matmul_order.h"

namespace tw::vgpu {
struct Options;
struct Report;
}  // namespace tw::vgpu

namespace tw {

struct BlockwiseInstance {
  const char* name;
  const char* target;  // "sm90a"
  MatmulConfig config;
  unsigned b_scale_rows;  // of B, that share a scale: 1 or 128
  unsigned stages;
  // Why this kernel cannot compute a problem in this order; good if it can.
  Status (*supports)(const BlockwiseProblem&, const MatmulOrder&);
  // Null where the build has no CUDA toolkit. `stream` is a cudaStream_t. Nothing is allocated,
  // nothing waited for.
  Status (*workspace)(std::size_t& bytes, const BlockwiseProblem&, const MatmulOrder&);
  Status (*launch)(const BlockwiseProblem&, const MatmulOrder&, const Workspace&, void* stream);
  // Null where the build has no virtual GPU.
  Status (*simulate)(const BlockwiseProblem&, const MatmulOrder&, const vgpu::Options&,
                     vgpu::Report&);
};

std::span<const BlockwiseInstance> blockwise_instances();

}  // namespace tw
