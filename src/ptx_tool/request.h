// What the command line of ./tw ptx says.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "src/cli/command.h"
#include "src/cli/landing.h"
#include "src/ptx_tool/compare.h"
#include "vgpu/ptx/use/described_launch.h"

namespace tw::ptx_tool {

struct PtxRequest {
  std::string file;
  std::string entry, grid = "1", block, cluster;
  std::uint64_t shared_bytes = 0;
  bool dependent_launch = false;
  std::vector<std::string> arrays, arguments, expectations, saves;
  cli::ScheduleRequest schedule;
  unsigned schedules = 8;
  bool unchecked = false;
  bool relaxed = false;
  std::string output, html, svg;
  unsigned ctas = 4;

  void add_options(CLI::App& app);
  // Throws Refusal.
  vgpu::ptx::LaunchWords words() const;
  std::vector<vgpu::ptx::Array> named_arrays() const;
};

// The exit status: 0 clean, 1 found or wrong, 2 not to be judged.
int run(const PtxRequest& request);

}  // namespace tw::ptx_tool
