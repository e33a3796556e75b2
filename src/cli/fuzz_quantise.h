// ./tw fuzz: its matrices to quantise, on the virtual GPU; tests/gpu has those on the real one.
#pragma once

#include <string>
#include <vector>

#include "src/cli/fuzz_case.h"

namespace tw::cli {

// Of this target and of this name, where they are not empty.
void add_quantise_cases(std::vector<CaseMaker>& makers, const std::string& arch,
                        const std::string& instance);

}  // namespace tw::cli
