// Calls of functions: of the module, and of the few that every program has (printf, assert).
#pragma once

#include <string>

#include "vgpu/ptx/run/frame.h"

namespace tw::vgpu::ptx {

// What a call's detail says. Its slots have the callee's address, if it is called by one, then the
// addresses of results and of arguments.
struct CallShape {
  unsigned results = 0, arguments = 0;
  bool is_indirect = false;

  std::uint32_t detail() const { return results | arguments << 8 | (is_indirect ? 1u << 31 : 0); }
  static CallShape of(std::uint32_t detail) {
    return {detail & 0xff, detail >> 8 & 0xffff, detail >> 31 != 0};
  }
};

void call(Frame& frame, const Step& step);

// What printf writes of a format and its arguments, which lie in memory: both addresses are
// generic.
std::string printed(const Frame& frame, std::uint64_t format, std::uint64_t arguments);
// The characters up to a zero.
std::string text_at(const Frame& frame, std::uint64_t address);

}  // namespace tw::vgpu::ptx
