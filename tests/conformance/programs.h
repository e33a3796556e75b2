// All programs, by family. A family is a header of programs and a file of what they must give.
#pragma once

#include "tests/conformance/program.h"

namespace tw::conformance {

struct Family {
  const char* name;
  std::vector<Program> (*list)();
};

// One entry per expected/NAME.txt.
std::vector<Family> families();

}  // namespace tw::conformance
