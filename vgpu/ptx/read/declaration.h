// Declarations of registers and of memory.
#pragma once

#include <optional>

#include "vgpu/ptx/read/cursor.h"
#include "vgpu/ptx/read/scope.h"

namespace tw::vgpu::ptx {

// The space that a token like ".shared" names; none if it is another one.
std::optional<Space> space_of(const Token& token);

// What stands behind the space, up to the semicolon, which it takes:
//   .align 16 .b8 name[4][8] = {1, 2}, other;
std::vector<Variable> read_variables(Cursor& cursor, Space space);

// One parameter of a function, behind ".param".
Variable read_parameter(Cursor& cursor);

// Behind ".reg", up to what ends it: registers get the numbers that follow those of the function.
void read_registers(Cursor& cursor, Function& function, Scopes& scopes, std::uint32_t scope);

}  // namespace tw::vgpu::ptx
