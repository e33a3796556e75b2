// Reads a PTX text.
#pragma once

#include <string_view>

#include "tilewright/base/status.h"
#include "vgpu/ptx/program.h"

namespace tw::vgpu::ptx {

// A text that is no PTX is refused with a sentence: "Line 12, column 5: expected ';' ...".
Result<Module> read(std::string_view text);

}  // namespace tw::vgpu::ptx
