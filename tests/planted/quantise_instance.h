// What the driver knows of the instance, as instance.h.
#pragma once

#include "tilewright/host/quantise_problem.h"
#include "vgpu/machine/machine.h"

namespace tw::planted {

extern const unsigned scale_rows;
Status simulate(const QuantiseProblem& problem, const vgpu::Options& options, vgpu::Report& report);

}  // namespace tw::planted
