// The compiled instances of the grouped matmul kernel; src/grouped/CMakeLists.txt lists them.
#pragma once

#include <span>

#include "tilewright/host/grouped.h"
#include "tilewright/host/matmul_order.h"

namespace tw::vgpu {
struct Options;
struct Report;
}  // namespace tw::vgpu

namespace tw {

// Whether a kernel gathers rows of A, by an index.
template <class Parts>
constexpr bool gathers_rows = requires(typename Parts::Loader::Params params) {
  params.index;
};

struct GroupedInstance {
  const char* name;
  const char* target;  // "sm90a"
  MatmulConfig config;
  unsigned stages;
  bool gathers;           // rows of A
  unsigned b_scale_rows;  // of B, that share a scale of 128 of k; 0: there are no scales
  // Why this kernel cannot compute a problem in this order; good if it can.
  Status (*supports)(const GroupedProblem&, const MatmulOrder&);
  // Null where the build has no CUDA toolkit. `stream` is a cudaStream_t. Nothing is allocated,
  // nothing waited for, and no workspace is needed.
  Status (*launch)(const GroupedProblem&, const MatmulOrder&, void* stream);
  // Null where the build has no virtual GPU.
  Status (*simulate)(const GroupedProblem&, const MatmulOrder&, const vgpu::Options&,
                     vgpu::Report&);
};

std::span<const GroupedInstance> grouped_instances();

}  // namespace tw
