// Numbers, and expressions of them that the reader evaluates.
#pragma once

#include "vgpu/ptx/read/cursor.h"

namespace tw::vgpu::ptx {

// Whether a constant begins here: a number, perhaps behind - ~ ! or an opening parenthesis.
bool begins_constant(const Cursor& cursor);

// An Integer, Float or Double.
Operand read_constant(Cursor& cursor);

// An integer that is not negative; `wanted` says what it is.
std::uint64_t read_count(Cursor& cursor, std::string_view wanted);

}  // namespace tw::vgpu::ptx
