// What is asked of a call beside its problem: structs and their sizes, options, the workspace, the
// virtual GPU. What is wrong is thrown.
#pragma once

#include <fmt/format.h>

#include <cstddef>

#include "src/library/failure.h"
#include "tilewright.h"
#include "tilewright/launch/kernel_problem.h"

namespace tw::vgpu {
struct Report;
}

namespace tw::library {

class Gpu;

template <class T>
T& not_null(T* pointer, const char* name) {
  if (pointer == nullptr) throw Failure{TW_INVALID, fmt::format("The {} is null.", name)};
  return *pointer;
}

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

void check_workspace(const void* workspace, std::size_t bytes, std::size_t needed);

// Counters that are zero, for a kernel that asks for so many bytes of a workspace that may hold
// anything: those of the graph where the stream is captured, else the workspace's own, cleared.
void make_counters(Workspace& workspace, const Gpu& gpu, std::size_t bytes, void* stream);

// The virtual GPU's target; null: the usual one.
const char* checked_target(const char* target);

void check_virtual_gpu(bool is_there);
void check_report(const vgpu::Report& report);

// The size that a problem says it has.
std::size_t stated_size(const void* problem);
// `initialiser` is the function that sets a struct's size.
void check_size(const char* name, const void* given, std::size_t size, std::size_t expected,
                const char* initialiser);

// Null options mean the usual ones.
tw_options usual_options();
void set_usual(tw_options& options);  // every byte, also those between fields
tw_options checked_options(const tw_options* options);

}  // namespace tw::library
