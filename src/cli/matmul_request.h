// What run, check and trace ask of matmul, as options of the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "src/matmul/data.h"
#include "src/matmul/instance.h"

namespace tw::cli {

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
  // The problem and the instance that serves it, or a sentence that says which value is wrong.
  Status resolve(MatmulShape& shape, const MatmulInstance*& instance, MatmulOrder& order,
                 Fill& fill, Tracing tracing) const;
};

}  // namespace tw::cli
