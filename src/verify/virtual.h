// Verified runs of described families on the virtual GPU.
#pragma once

#include "src/verify/case.h"
#include "src/verify/virtual_run.h"

namespace tw {

// `ran`, where it is not null, gets what the kernel left.
VirtualRun run_virtually(const Verified& verified, const vgpu::Options& options,
                         HostProblem* ran = nullptr);

}  // namespace tw
