// How long launches of described families take, on a GPU.
#pragma once

#include "src/cli/described.h"

namespace tw::cli {

void add_bench_described(CLI::App& command, const Families& families, Verdict& verdict);

}  // namespace tw::cli
