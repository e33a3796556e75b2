// The structure of an instance, as text and as a picture.
#pragma once

#include <string>

#include "src/cli/command.h"
#include "src/cli/described.h"
#include "src/instances/structure.h"

namespace tw::cli {

// "coop_128x256_2x1 of matmul, for sm90a" is a title.
std::string explained(const Structure& structure, const std::string& title);
// An SVG: roles, what flows between them, and the map of shared memory.
std::string drawn(const Structure& structure, const std::string& title);

// `explain INSTANCE [--svg FILE]`, of all instances of the families.
void add_explain(CLI::App& app, const Families& families, Verdict& verdict);

}  // namespace tw::cli
