// Runs an entry of a module on the virtual GPU.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "vgpu/machine/machine.h"
#include "vgpu/ptx/run/code.h"

namespace tw::vgpu::ptx {

struct Extent {
  unsigned x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

struct Request {
  Extent grid, block, cluster;
  std::size_t dynamic_shared = 0;
  std::span<const std::byte> parameters;
  bool dependent_launch = false;
  unsigned registers = 0;  // a thread has so many at the launch; 0: unknown
  // Takes the lines that printf writes: "CTA 2, thread 17: x = 3". Empty: nobody wants them.
  std::function<void(const std::string&)> print = {};
};

// The request of a launch of ours, which has the bytes of its parameters.
Request request_of(const Launch& launch);

// What all threads of a launch share.
struct Running {
  const Code* code = nullptr;
  const Request* request = nullptr;
  const std::byte* parameters = nullptr;
  std::byte* loaded = nullptr;  // global and constant variables
  // Runs a function of the module; the slots have the addresses of its results and arguments.
  std::function<void(Frame& caller, const Body& body, const Slot* parameters)> call;
  // Takes what the running thread prints.
  std::function<void(const std::string& text)> print;
};

// `memory` is what the kernel may touch beside its parameters and variables. A request that does
// not fit the entry makes the report incomplete.
Report run(const Code& code, const Request& request, std::span<const GlobalRange> memory,
           const Options& options);

}  // namespace tw::vgpu::ptx
