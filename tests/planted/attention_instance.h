// What the driver knows of the instance, as instance.h.
#pragma once

#include "tests/programs/attention_case.h"
#include "vgpu/machine/machine.h"

namespace tw::planted {

extern const int columns;
vgpu::Report simulate(programs::AttentionCase& data, unsigned sms, const vgpu::Options& options);

}  // namespace tw::planted
