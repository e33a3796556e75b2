// Kernels that read a word for each thread, and write one.
#pragma once

#include <numeric>

#include "tests/ptx/support.h"

namespace tw::vgpu::ptx {

inline std::string kernel(const std::string& body, const std::string& before = "") {
  return before + R"(
.visible .entry k(.param .u64 from, .param .u64 to)
{
  .reg .b64 %from, %to, %x<8>;
  .reg .b32 %t, %r<16>;
  .reg .pred %p<4>;
  ld.param.u64 %from, [from];
  ld.param.u64 %to, [to];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %x7, %t, 4;
  add.s64 %from, %from, %x7;
  add.s64 %to, %to, %x7;
)" + body +
         "\n  ret;\n}\n";
}

// 64 threads that read a word each, 0 to 63, and write one.
struct Words {
  std::vector<std::uint32_t> from = std::vector<std::uint32_t>(64);
  std::vector<std::uint32_t> to = std::vector<std::uint32_t>(64);
  unsigned threads = 64;
  std::size_t dynamic_shared = 0;
  bool to_is_read = false;  // what is there at the beginning may be read

  Words() { std::iota(from.begin(), from.end(), 0); }
  unsigned ctas = 1, cluster = 1;
  std::vector<std::string> printed = {};

  Report run(const std::string& text, const Options& options = {}) {
    const GlobalRange memory[] = {{from.data(), 256, "from", true, false},
                                  {to.data(), 256, "to", to_is_read, true}};
    Parameters parameters;
    parameters.add(from.data()).add(to.data());
    Request request;
    request.block.x = threads;
    request.dynamic_shared = dynamic_shared;
    request.grid.x = ctas;
    request.cluster.x = cluster;
    request.print = [this](const std::string& line) { printed.push_back(line); };
    return run_text(text, request, parameters, memory, options);
  }
};

constexpr Landing all_landings[] = {Landing::Eager, Landing::Lazy, Landing::Random,
                                    Landing::Adversarial};

// A sentence of the report's.
inline bool says(const Report& report, const std::string& words) {
  return text_of(report).find(words) != std::string::npos;
}
inline bool finds(const Report& report, const std::string& name) {
  return text_of(report).find(name + ": ") != std::string::npos;
}

}  // namespace tw::vgpu::ptx
