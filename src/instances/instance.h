// A compiled kernel of a described family; include/tilewright/family/NAME/instances.txt lists them.
#pragma once

#include <span>

#include "tilewright/launch/kernel_problem.h"
#include "tilewright/pipeline/trace.h"

namespace tw::vgpu {
struct Options;
struct Report;
}  // namespace tw::vgpu

namespace tw {

// How near a kernel comes to what its SMs could do, the second half of its price: where nobody
// measured.
inline constexpr double usual_efficiency = 0.7;

// How a problem is launched, beside what it computes.
struct LaunchOptions {
  LaunchOrder order = {};    // for kernels that multiply
  Workspace workspace = {};  // where a kernel needs one
  TraceBuffer trace = {};    // for kernels that are compiled with tracing
};

struct Instance {
  const char* name;
  const char* target;  // "sm90a"
  unsigned cluster;    // CTAs that run together
  const void* facts;   // the family's own type; those of a product begin with ProductFacts
  KernelProblem (*take)(const Checked&);
  // Why this kernel cannot take a problem; good if it can.
  Status (*takes)(const KernelProblem&, const LaunchOrder&);
  // Null where no kernel is compiled for a GPU. `stream` is CUDA's, or HIP's. Nothing is allocated,
  // nothing waited for. The workspace is that of the current device.
  Status (*workspace)(std::size_t& bytes, const Checked&, const LaunchOptions&) = nullptr;
  Status (*launch)(const Checked&, const LaunchOptions&, void* stream) = nullptr;
  // Null where the build has no virtual GPU.
  Status (*simulate)(const Checked&, const LaunchOptions&, const vgpu::Options&,
                     vgpu::Report&) = nullptr;
  // Behind the last compute capability that runs it; 0: that of its target.
  int capability_end = 0;
  double efficiency = usual_efficiency;  // behind its configuration in instances.txt

  Status supports(const Checked& problem, const LaunchOptions& options) const {
    return takes(take(problem), options.order);
  }
};

inline Instance with_efficiency(Instance instance, double efficiency) {
  instance.efficiency = efficiency;
  return instance;
}

// The facts of an instance that multiplies.
inline const ProductFacts& product_facts(const Instance& instance) {
  return *static_cast<const ProductFacts*>(instance.facts);
}
inline const MatmulConfig& config_of(const Instance& instance) {
  return product_facts(instance).config;
}

}  // namespace tw
