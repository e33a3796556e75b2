// What the driver knows of the instance: everything that an altered header can change is behind it.
#pragma once

#include "src/matmul/shape.h"
#include "tilewright/base/status.h"
#include "vgpu/machine/machine.h"

namespace tw::planted {

// The types and orders of memory that the instance is made for, and a bias where it exchanges
// operands.
void adapt(MatmulShape& shape);

// `parts`: of each sum, where the instance makes sums in parts.
Status simulate(const MatmulProblem& problem, int parts, const vgpu::Options& options,
                vgpu::Report& report);

}  // namespace tw::planted
