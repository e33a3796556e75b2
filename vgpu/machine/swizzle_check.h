// Memory that is swizzled must begin where the swizzle's pattern does. The hardware takes the
// pattern from addresses; who computes places from the beginning of a tile finds other bytes.
#pragma once

#include "vgpu/data/swizzle.h"
#include "vgpu/machine/engine.h"

namespace tw::vgpu {

// A box of TMA that is whole patterns. Kernels from a text alone are not asked: swizzles are of
// addresses, and CUTLASS has tiles 384 bytes behind the beginning of a pattern.
void check_box_pattern(Engine& machine, SharedAddress box, std::uint32_t bytes, MapSwizzle swizzle,
                       const char* instruction);

// An operand of wgmma, with a base offset of 0: it may begin at any line of a pattern, but the
// memory that the kernel described around it may not.
void check_operand_pattern(Engine& machine, const Cta& cta, SharedAddress start, MapSwizzle swizzle,
                           const char* instruction);

}  // namespace tw::vgpu
