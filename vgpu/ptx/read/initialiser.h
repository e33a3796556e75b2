// What memory holds when a module is loaded.
#pragma once

#include "vgpu/ptx/read/cursor.h"

namespace tw::vgpu::ptx {

// Behind "=": one value, or lists in braces of as many levels as the variable has dimensions.
// Elements without a value begin as zero. An array of unknown length gets the list's.
void read_initialiser(Cursor& cursor, Variable& variable);

}  // namespace tw::vgpu::ptx
