// Memory that threads and copies reach by host pointer: global memory, and elements of shared
// memory through TileTensor.
#pragma once

#include <cstdint>

#include "tilewright/layout/access.h"

namespace tw::vgpu {

class Engine;
struct Thread;

// May these bytes be read (written) on behalf of the thread? Reports if not.
bool may_read_global(Engine& machine, const Thread& thread, const void* begin, std::uint32_t bytes);
bool may_write_global(Engine& machine, const Thread& thread, const void* begin,
                      std::uint32_t bytes);

// The thread touches this memory now. What earlier grids may still write is judged when it waits
// for them: who never does is launched behind them.
void touch_global(Engine& machine, Thread& thread, const void* begin);

// Watches elements while a run goes on.
extern const AccessObserver element_observer;

}  // namespace tw::vgpu
