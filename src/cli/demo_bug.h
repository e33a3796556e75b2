// A kernel with a bug, for ./tw demo: examples/own_ring, whose reader lets go of a stage too early.
#pragma once

#include "vgpu/machine/finding.h"

namespace tw::cli {

vgpu::Report run_ring_released_early();

}  // namespace tw::cli
