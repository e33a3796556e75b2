// What the driver knows of the instance, as instance.h.
#pragma once

#include "tests/programs/attention_case.h"
#include "vgpu/machine/machine.h"

namespace tw::planted {

extern const int columns;
extern const bool in_parts;  // keys
vgpu::Report simulate(programs::AttentionCase& data, unsigned sms, const vgpu::Options& options);

}  // namespace tw::planted
