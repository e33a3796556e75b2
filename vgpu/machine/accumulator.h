// Who owns accumulator registers: the thread, or the products in flight on them.
#pragma once

#include "vgpu/machine/engine.h"

namespace tw::vgpu {

inline unsigned position_of(const Thread& thread) { return thread.index % warpgroup_threads; }

// The accumulator that owns these registers of a thread, or a new one.
Accumulator& accumulator_for(Warpgroup& warpgroup, unsigned position, const std::uint32_t* fragment,
                             unsigned n);
// The product takes over the thread's registers, unless an earlier one has them.
void take_registers(Engine& machine, Thread& thread, Warpgroup& warpgroup, WgmmaOp& op,
                    std::uint32_t* fragment);
// Registers that a wgmma is about to use must not have been touched since the last wgmma.fence.
void check_fence(Engine& machine, const Thread& thread, const std::uint32_t* fragment,
                 unsigned count);
// The thread is about to touch these registers: no product may own them.
void check_accumulators(Engine& machine, Thread& thread, const std::uint32_t* fragment,
                        unsigned count);
// Gives the thread back the registers of products that it has waited for.
void return_registers(Thread& thread, Warpgroup& warpgroup);

}  // namespace tw::vgpu
