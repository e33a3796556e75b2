// A file appears whole or not at all.
#pragma once

#include <string>

#include "tilewright/base/status.h"

namespace tw::layout_tool {

Status save(const std::string& path, const std::string& text);

}  // namespace tw::layout_tool
