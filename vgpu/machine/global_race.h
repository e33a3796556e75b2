// Two accesses to the same bytes of global memory of which one writes need an order: by barriers,
// or by counters, across clusters too. Two writes of the same value do not, nor do two strong
// accesses or atomic operations. Reads of values that nobody wants are not judged, nor are
// counters of kernels in C++.
#pragma once

#include "vgpu/machine/global_shadow.h"

namespace tw::vgpu {

void judge_global_read(Engine& machine, const void* begin, std::uint32_t bytes,
                       GlobalAccess& access);
// Before the bytes are written.
void judge_global_write(Engine& machine, const void* begin, const void* value, std::uint32_t bytes,
                        GlobalAccess& access);

}  // namespace tw::vgpu
