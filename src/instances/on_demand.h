// Kernels that are compiled when a request takes them: a shared object each, which ./tw builds.
#pragma once

#include "src/instances/instance.h"

namespace tw {

// Instance::simulate of a kernel that is known by its types alone. The first call asks ./tw for
// kernels/NAME.so beside the program and loads it; without ./tw what is there is loaded.
Status simulate_on_demand(const char* name, const Checked& problem, const LaunchOptions& options,
                          const vgpu::Options& machine, vgpu::Report& report);

}  // namespace tw
