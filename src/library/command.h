// Calls as lines of ./tw run.
#pragma once

#include "src/library/prepared.h"

namespace tw::library {

// The kernel, and behind which copies of operands, where there are some.
std::string command(const Stated& stated, const Choice& choice, const char* on);

}  // namespace tw::library
