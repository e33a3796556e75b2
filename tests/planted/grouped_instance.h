// What the driver knows of the instance, as instance.h.
#pragma once

#include "tilewright/host/grouped.h"
#include "vgpu/machine/machine.h"

namespace tw::planted {

bool gathers();  // rows of A
Status simulate(const GroupedProblem& problem, const vgpu::Options& options, vgpu::Report& report);

}  // namespace tw::planted
