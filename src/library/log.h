// What the library says on stderr: nothing, unless TW_LOG is `info` or `dispatch`.
#pragma once

#include <string>
#include <vector>

#include "src/dispatch/choose.h"

namespace tw::library {

bool logs_calls();     // `info` and `dispatch`: the command that repeats each call
bool logs_dispatch();  // `dispatch`: also why the other kernels were not taken, once per shape

// The `./tw run` line that repeats a launch, with data of its own. `on`: "gpu" or "virtual".
std::string command_of(const MatmulProblem& problem, const Choice& choice, const char* on);

void log_line(const std::string& line);
void log_dispatch(const MatmulProblem& problem, const std::vector<Rejection>& rejections,
                  const Status& status, const Choice& choice);

}  // namespace tw::library
