// What threads begin with: special registers, and addresses of variables.
#pragma once

#include "tilewright/base/status.h"
#include "vgpu/machine/thread.h"
#include "vgpu/ptx/run/launch.h"

namespace tw::vgpu::ptx {

// Fills the words of a thread that starts.
void fill(Frame& frame, const Thread& thread);

// Where in the grid the machine's CTA of this number is: it counts those of a cluster one behind
// the other.
Extent position_of(const Request& request, unsigned cta);

// Refuses code that asks for a special register without a model.
Status check_specials(const Code& code);

}  // namespace tw::vgpu::ptx
