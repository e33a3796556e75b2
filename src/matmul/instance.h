// The compiled instances of the matmul kernel: for the GPU (one .cu each) and for the virtual GPU
// (one .cpp each), both from the same headers. src/CMakeLists.txt lists them.
#pragma once

#include <span>

#include "tilewright/host/matmul_order.h"
#include "tilewright/host/matmul_problem.h"
#include "tilewright/pipeline/trace.h"

namespace tw::vgpu {
struct Options;
struct Report;
}  // namespace tw::vgpu

namespace tw {

struct MatmulInstance {
  const char* name;
  const char* target;  // "sm90a"
  MatmulConfig config;
  bool any_alignment;  // operands may begin anywhere
  bool any_layout;     // and be K-major or MN-major, whatever the configuration says
  bool by_threads;     // threads copy the operands, in pieces as large as these are aligned
  bool is_step;        // of the ladder, which shows what each part brings
  unsigned stages;
  unsigned tracks;  // of a CTA's timeline
  // Why this kernel cannot compute a problem in this order; good if it can.
  Status (*supports)(const MatmulProblem&, const MatmulOrder&);
  // Null where the build has no CUDA toolkit. `stream` is a cudaStream_t. Nothing is allocated,
  // nothing waited for.
  Status (*workspace)(std::size_t& bytes, const MatmulProblem&, const MatmulOrder&);
  Status (*launch)(const MatmulProblem&, const MatmulOrder&, const Workspace&, const TraceBuffer&,
                   void* stream);
  // Null where the build has no virtual GPU.
  Status (*simulate)(const MatmulProblem&, const MatmulOrder&, const TraceBuffer&,
                     const vgpu::Options&, vgpu::Report&);
};

std::span<const MatmulInstance> matmul_instances();

}  // namespace tw
