// What the driver knows of the instance: everything that an altered header can change is behind it.
#pragma once

#include "tilewright/base/status.h"
#include "vgpu/machine/machine.h"

namespace tw {
struct MatmulProblem;
}

namespace tw::planted {

Status simulate(const MatmulProblem& problem, const vgpu::Options& options, vgpu::Report& report);

}  // namespace tw::planted
