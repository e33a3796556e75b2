// What the driver knows of the instance, as instance.h.
#pragma once

#include "tilewright/base/status.h"
#include "tilewright/host/conv2d_problem.h"
#include "vgpu/machine/machine.h"

namespace tw::planted {

Conv2dDirection direction();

Status simulate(const Conv2dProblem& problem, const vgpu::Options& options, vgpu::Report& report);

}  // namespace tw::planted
