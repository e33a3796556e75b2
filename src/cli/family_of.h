// The family that an instance is of.
#pragma once

#include <string>

#include "src/cli/described.h"

namespace tw::cli {

// Empty where no family has an instance of that name.
std::string family_of(const std::string& instance);

// Why `family` has no instance of that name, and which family has; `usual` where none has.
std::string no_instance(const std::string& instance, const std::string& family,
                        const std::string& usual);

// That there is no family of that name, and which there are.
std::string no_family(const std::string& name);

// All that are described.
Families all_families();

// Behind its subcommands, which are families: a command without one says which there are.
void require_family(CLI::App& command, Verdict& verdict);

}  // namespace tw::cli
