// The colour of a bank: the hue tells its group of four (16 bytes, what one lane reads at most),
// the lightness its place in the group.
#pragma once

#include <string>

namespace tw::layout_tool {

std::string bank_colour(int bank, int banks);

}  // namespace tw::layout_tool
