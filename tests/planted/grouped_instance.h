// What the driver knows of the instance, as instance.h.
#pragma once

#include "src/grouped/instance.h"
#include "vgpu/machine/machine.h"

namespace tw::planted {

GroupedInstance described();  // but for how it is run
Status simulate(const GroupedProblem& problem, const vgpu::Options& options, vgpu::Report& report);

}  // namespace tw::planted
