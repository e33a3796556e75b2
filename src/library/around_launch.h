// What calls of every family do around a launch. What is wrong is thrown.
#pragma once

#include <fmt/format.h>

#include <cstddef>

#include "src/library/failure.h"
#include "tilewright/launch/matmul_order.h"

namespace tw::vgpu {
struct Report;
}

namespace tw::library {

template <class T>
T& not_null(T* pointer, const char* name) {
  if (pointer == nullptr) throw Failure{TW_INVALID, fmt::format("The {} is null.", name)};
  return *pointer;
}

void check_workspace(const void* workspace, std::size_t bytes, std::size_t needed);

// Counters that are zero, for a kernel that asks for so many bytes of a workspace that may hold
// anything: those of the graph where the stream is captured, else the workspace's own, cleared.
void make_counters(Workspace& workspace, std::size_t bytes, void* stream);

// The virtual GPU's target; null: the usual one.
const char* checked_target(const char* target);

void check_virtual_gpu(bool is_there);
void check_report(const vgpu::Report& report);

}  // namespace tw::library
