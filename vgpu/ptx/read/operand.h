// The operands of an instruction.
#pragma once

#include "vgpu/ptx/read/cursor.h"

namespace tw::vgpu::ptx {

// Names are not resolved yet. `is_call`: parentheses hold arguments, and no constant.
Operand read_operand(Cursor& cursor, bool is_call);

// A name, with the component that may follow it: %r1, %tid.x.
Operand read_name(Cursor& cursor, std::string_view wanted);

}  // namespace tw::vgpu::ptx
