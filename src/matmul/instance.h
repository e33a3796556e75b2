// The compiled instances of the matmul kernel: for the GPU (one .cu each) and for the virtual GPU
// (one .cpp each), both from the same headers. src/CMakeLists.txt lists them.
#pragma once

#include <span>

#include "tilewright/host/matmul.h"

namespace tw::vgpu {
struct Options;
struct Report;
}  // namespace tw::vgpu

namespace tw {

struct MatmulInstance {
  const char* name;
  MatmulConfig config;
  unsigned stages;
  unsigned tracks;  // of a CTA's timeline
  // Null where the build has no CUDA toolkit. `stream` is a cudaStream_t. Nothing is allocated,
  // nothing waited for.
  Status (*launch)(const MatmulProblem&, const MatmulOrder&, const TraceBuffer&, void* stream);
  // Null where the build has no virtual GPU.
  Status (*simulate)(const MatmulProblem&, const MatmulOrder&, const TraceBuffer&,
                     const vgpu::Options&, vgpu::Report&);
};

std::span<const MatmulInstance> matmul_instances();

}  // namespace tw
