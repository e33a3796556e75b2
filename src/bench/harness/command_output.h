// What other programs of this machine say.
#pragma once

#include <string>

namespace tw::bench {

// The first line that a command prints; empty where it prints none.
std::string first_line(const std::string& command);

}  // namespace tw::bench
