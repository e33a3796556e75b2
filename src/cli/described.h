// ./tw run, ./tw check and ./tw fuzz of families that are described.
#pragma once

#include <string>
#include <vector>

#include "src/cli/command.h"
#include "src/cli/fuzz_case.h"

namespace tw::cli {

void add_run_described(CLI::App& command, Verdict& verdict);
void add_check_described(CLI::App& command, Verdict& verdict);

// Of this target and of this name, where they are not empty. On a GPU a hang or a fault ends the
// program: the file `running` then tells which case it was.
void add_described_cases(std::vector<CaseMaker>& makers, const std::string& arch,
                         const std::string& instance, bool on_gpu, const std::string& running);

}  // namespace tw::cli
