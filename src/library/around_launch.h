// What calls of every family do around a launch. What is wrong is thrown.
#pragma once

#include <fmt/format.h>

#include <cstddef>

#include "src/library/failure.h"

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

// Of a workspace that may hold anything.
void clear_counters(void* workspace, std::size_t bytes, void* stream);

// Of the virtual GPU; null: the usual one.
const char* checked_target(const char* target);

void check_virtual_gpu(bool is_there);
void check_report(const vgpu::Report& report);

}  // namespace tw::library
