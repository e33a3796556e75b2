// One verified run of a case, on the GPU or on the virtual GPU.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "src/cli/command.h"
#include "src/cli/fuzz_case.h"
#include "src/verify/case.h"

namespace tw::cli {

struct RunRequest {
  std::string on;  // gpu, virtual, or empty for the GPU when there is one that runs the instance
  int launches = 1;
  bool twice = false;
  bool unchecked = false;  // on the virtual GPU

  void add_options(CLI::App& command);
};

// Throws Refused.
void run_once(const Case& made, const RunRequest& request, const vgpu::Options& schedule,
              Verdict& verdict);

// The elements of all outputs.
std::int64_t outputs_of(const Case& made);

// With `twice`, another run must leave the same bytes.
Outcome judge_virtually(const Case& one, const vgpu::Options& schedule, bool twice);
Outcome judge_on_gpu(const Case& one, int launches, bool twice);

}  // namespace tw::cli
