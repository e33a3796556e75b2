// Verified runs of described families on the virtual GPU.
#pragma once

#include "src/matmul/virtual.h"
#include "src/run/case.h"

namespace tw {

VirtualRun run_virtually(const Verified& verified, const vgpu::Options& options);

}  // namespace tw
