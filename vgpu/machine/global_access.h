// Memory that threads and copies reach by host pointer: global memory, and elements of shared
// memory through TileTensor.
#pragma once

#include <cstdint>

#include "tilewright/layout/access.h"
#include "vgpu/machine/clock.h"

namespace tw::vgpu {

class Engine;
struct Thread;

constexpr Epoch grids_have_ended = 1;  // the only epoch of the agent Cluster::grid_waits

// May these bytes be read (written) on behalf of the thread? Reports if not.
bool may_read_global(Engine& machine, const Thread& thread, const void* begin, std::uint32_t bytes);
bool may_write_global(Engine& machine, const Thread& thread, const void* begin,
                      std::uint32_t bytes);

// The thread touches this memory now. Where the launch overlaps the grid before it, a
// griddepcontrol.wait must have happened before, of this thread or of one that it has heard of.
// Otherwise a grid that never waits is launched behind the others, and one that does is judged
// then.
void touch_global(Engine& machine, Thread& thread, const void* begin);

// Watches elements while a run goes on.
extern const AccessObserver element_observer;

}  // namespace tw::vgpu
