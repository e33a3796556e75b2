// What threads begin with: special registers, and addresses of variables.
#pragma once

#include "tilewright/base/status.h"
#include "vgpu/machine/thread.h"
#include "vgpu/ptx/run/launch.h"

namespace tw::vgpu::ptx {

// Fills the words of a thread that starts.
void fill(Frame& frame, const Thread& thread);

// Refuses code that asks for a special register without a model.
Status check_specials(const Code& code);

}  // namespace tw::vgpu::ptx
