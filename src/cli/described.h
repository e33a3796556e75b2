// Commands of families that are described: of ./tw, and of a program that has its own.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/cli/command.h"
#include "src/cli/fuzz_case.h"
#include "src/verify/case.h"

namespace tw::cli {

// The families that a program has.
struct Families {
  std::span<const Trial* const> trials;
  // Why `family` has no instance of that name; `usual` where no other family has one, either.
  std::string (*no_instance)(const std::string& instance, const std::string& family,
                             const std::string& usual);
};

void add_run_described(CLI::App& command, const Families& families, Verdict& verdict);
void add_check_described(CLI::App& command, const Families& families, Verdict& verdict);

// A command that does something else with the case that its options state. `Refused` may be thrown.
using CaseAction = std::function<void(const Case&, const vgpu::Options&, Verdict&)>;
void add_described(CLI::App& command, const Families& families, const CaseAction& action,
                   Verdict& verdict,
                   const std::function<void(CLI::App& family)>& add_options = nullptr);

// Takes instances of this target and of this name, where they are not empty; random extents are at
// most `largest`. On a GPU a hang or a fault ends the program: the file `running` then tells which
// case it was.
void add_described_cases(std::vector<CaseMaker>& makers, std::span<const Trial* const> trials,
                         const std::string& arch, const std::string& instance, bool on_gpu,
                         const std::string& running, std::int64_t largest = 320);

// "quantise m 200 k 200, source bf16, ...": a case in a line of output.
std::string title_of(const Case& made);

}  // namespace tw::cli
