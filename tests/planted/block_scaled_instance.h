// What the driver knows of the instance, as instance.h.
#pragma once

#include "tilewright/family/matmul_config.h"
#include "tilewright/host/block_scaled_problem.h"
#include "vgpu/machine/machine.h"

namespace tw::planted {

MatmulConfig planted_config();
ScaleType planted_scales();
Status simulate(const BlockScaledProblem& problem, const std::vector<vgpu::GlobalRange>& touched,
                const vgpu::Options& options, vgpu::Report& report);

}  // namespace tw::planted
