// The picture of a layout: its offsets on a grid, coloured by bank, and what the banks make of an
// access.
#pragma once

#include <optional>
#include <string>

#include "src/layout_tool/banks.h"

namespace tw::layout_tool {

struct Drawing {
  std::string expression;
  Grid grid;
  SharedMemory memory;
  int element_bytes;
  std::optional<Access> access;
  Conflicts conflicts;  // where the access has some
};

std::string draw(const Drawing& drawing);

}  // namespace tw::layout_tool
