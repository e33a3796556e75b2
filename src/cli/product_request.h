// The extents and the epilogue of a product, as options of the command line: of matmul, and of
// families that are made of it.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

#include "src/instances/shape.h"
#include "tilewright/launch/kernel_problem.h"

namespace tw::cli {

// What is wrong with a request, found deep inside.
struct Refused {
  std::string sentence;
};

template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw Refused{fmt::format(format, std::forward<Arguments>(arguments)...)};
}

void check_between(const char* name, std::int64_t value, std::int64_t low, std::int64_t high);
// `usual` where the option is empty.
ElementType type_named(const char* option, const std::string& name, ElementType usual);
Fill fill_named(const std::string& name);
Spacing spacing_named(const std::string& name);

struct EpilogueRequest {
  float alpha = 1.0f;
  float beta = 0.0f;
  std::string epilogue;       // comma-separated
  float output_scale = 0.0f;  // 0: 1, or what `quantise` chooses
  float clamp_low = -8.0f;
  float clamp_high = 8.0f;
  std::string source_type = "bf16";
  std::string bias_type = "bf16";
  std::string auxiliary_type = "bf16";

  void add_epilogue_options(CLI::App& command);
  // The shape has its extents and types. Throws Refused.
  void fill_epilogue(MatmulShape& shape, Fill fill) const;
};

// The order in which tiles are taken, and parts of sums.
struct OrderRequest {
  int split_k = 1;
  bool stream_k = false;
  int group = 0;
  std::string raster = "m";

  void add_options(CLI::App& command);
  // Where tiles have one order.
  void add_parts(CLI::App& command, const char* parts, const char* streams);
  // Throws Refused.
  LaunchOrder resolve() const;
};

}  // namespace tw::cli
