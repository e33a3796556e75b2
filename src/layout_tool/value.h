// What an expression can be worth.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "tilewright/layout/text.h"
#include "tilewright/layout/tiler.h"

namespace tw::layout_tool {

using Value = std::variant<std::int64_t, Layout, Tiler, Swizzle>;

// "a number", "a layout", "a tiler" or "a swizzle".
const char* kind_of(const Value& value);

// In the notation that the language reads.
std::string to_text(const Value& value);

}  // namespace tw::layout_tool
