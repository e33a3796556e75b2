// One subcommand, one file: each adds itself to the command line and leaves its exit status.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

namespace tw::cli {

// 0 good, 1 wrong or found, 2 bad request.
struct Verdict {
  int status = 0;
  void refuse(const std::string& sentence) {
    std::fprintf(stderr, "tw: %s\n", sentence.c_str());
    status = 2;
  }
};

void add_check(CLI::App& app, Verdict& verdict);
void add_fuzz(CLI::App& app, Verdict& verdict);
void add_list(CLI::App& app, Verdict& verdict);
void add_layout(CLI::App& app, Verdict& verdict);
void add_run(CLI::App& app, Verdict& verdict);
void add_trace(CLI::App& app, Verdict& verdict);

}  // namespace tw::cli
