// The record of a kernel that is compiled with tracing, as a timeline.
#pragma once

#include "src/instances/structure.h"
#include "src/verify/on_gpu.h"
#include "vgpu/timeline.h"

namespace tw::cli {

// A stage counts as full while somebody reads it.
vgpu::Timeline timeline_of(const GpuTrace& trace, const Structure& structure);

}  // namespace tw::cli
