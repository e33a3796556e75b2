// What the measurements of all families have in common on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <initializer_list>
#include <string>

#include "src/bench/harness/report.h"
#include "tilewright/base/status.h"

namespace tw::bench {

// Prints the sentence; the exit status of a bad request.
int refuse(const std::string& sentence);

// A whole command, up to its exit status: the words of `app`, `read` of what they ask for, then,
// where there is a GPU, `run`. A refusal without a sentence has been told.
int run_command(CLI::App& app, int argc, char** argv, const std::function<Status()>& read,
                const std::function<int()>& run);

// About this machine, this tree and this command, what it measures and how long.
RunFacts facts_of_run(int argc, char** argv, const std::string& family, const std::string& type,
                      int rounds, double slice_milliseconds);

// A sentence about the first file that cannot be written; empty names are no files.
std::string unwritable(std::initializer_list<std::string> paths);
void write_file(const std::string& path, const std::string& text);

}  // namespace tw::bench
