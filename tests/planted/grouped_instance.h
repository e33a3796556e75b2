// What the driver knows of the instance, as instance.h.
#pragma once

#include "tilewright/host/grouped.h"
#include "vgpu/machine/machine.h"

namespace tw::planted {

Status simulate(const GroupedProblem& problem, const vgpu::Options& options, vgpu::Report& report);

}  // namespace tw::planted
