// The compiled instances of the quantiser; src/quantise/CMakeLists.txt lists them.
#pragma once

#include <span>

#include "tilewright/host/quantise_problem.h"

namespace tw::vgpu {
struct Options;
struct Report;
}  // namespace tw::vgpu

namespace tw {

struct QuantiseInstance {
  const char* name;
  const char* target;   // "sm90a"
  unsigned scale_rows;  // that share a scale: 1 or 128
  unsigned tile_rows;   // that a CTA takes at once, of 128 columns
  // Null where the build has no CUDA toolkit. `stream` is a cudaStream_t. Nothing is allocated,
  // nothing waited for.
  Status (*launch)(const QuantiseProblem&, void* stream);
  // Null where the build has no virtual GPU.
  Status (*simulate)(const QuantiseProblem&, const vgpu::Options&, vgpu::Report&);
};

std::span<const QuantiseInstance> quantise_instances();

}  // namespace tw
