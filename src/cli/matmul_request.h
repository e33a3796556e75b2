// What run, check and trace ask of matmul, as options of the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "src/matmul/data.h"
#include "src/matmul/instance.h"

namespace tw::cli {

// A problem, and the instance that serves it.
struct MatmulTask {
  MatmulShape shape;
  MatmulOrder order;
  Fill fill;
  const MatmulInstance* instance;
};

struct MatmulRequest {
  std::string family;
  std::string arch = "sm90a";
  std::int64_t m = 512;
  std::int64_t n = 512;
  std::int64_t k = 512;
  float alpha = 1.0f;
  float beta = 0.0f;
  std::string epilogue;  // comma-separated; "bias"
  std::string cluster = "2x1";
  std::string consumers = "cooperative";
  std::string tile;
  int group = 0;
  std::string raster = "m";
  std::uint64_t seed = 1;
  std::string data = "integers";

  // The `./tw run` line that repeats this request, but for where and in which order it runs.
  std::string command_line() const;
  void add_options(CLI::App& command);
  // What the options mean, or a sentence that says which value is wrong.
  Result<MatmulTask> resolve(Tracing tracing) const;
};

// --on: gpu, virtual, or empty for the GPU when there is one. A sentence where that cannot be.
void add_on_option(CLI::App& command, std::string& on);
Result<bool> runs_on_gpu(const std::string& on);

}  // namespace tw::cli
