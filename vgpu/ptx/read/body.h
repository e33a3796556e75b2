// The statements of a function.
#pragma once

#include "vgpu/ptx/read/cursor.h"
#include "vgpu/ptx/read/scope.h"

namespace tw::vgpu::ptx {

// From '{' to '}'. `scope` has the function's parameters.
void read_body(Cursor& cursor, Module& module, Function& function, Scopes& scopes,
               std::uint32_t scope);

// .loc and .file, which may stand anywhere; false if the next token is none of them.
bool read_source_line(Cursor& cursor, Module& module);

}  // namespace tw::vgpu::ptx
