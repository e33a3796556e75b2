#include "src/library/checks.h"

#include <algorithm>
#include <cstring>

#include "src/library/device.h"
#include "tilewright/launch/targets.h"
#include "vgpu/machine/machine.h"

namespace tw::library {

void check_workspace(const void* workspace, std::size_t bytes, std::size_t needed) {
  if (needed == 0) return;
  if (bytes < needed || workspace == nullptr) {
    throw Failure{TW_WORKSPACE, fmt::format("The workspace has {} bytes{}, but this call needs {}.",
                                            bytes, workspace == nullptr ? " at null" : "", needed)};
  }
  if (const auto beyond = reinterpret_cast<std::uintptr_t>(workspace) % 256; beyond != 0) {
    throw Failure{TW_WORKSPACE,
                  fmt::format("The workspace begins {} bytes beyond a multiple of 256, but must be "
                              "aligned to 256 bytes.",
                              beyond)};
  }
}

void make_counters(Workspace& workspace, const Gpu& gpu, std::size_t bytes, void* stream) {
  if (bytes == 0) return;
  workspace.other_counters = gpu.counters_of_capture(workspace_counter_bytes, stream);
  if (workspace.other_counters != nullptr) return;
  const Status cleared =
      gpu.clear(workspace.data, std::min(bytes, workspace_counter_bytes), stream);
  if (!cleared.is_good()) throw Failure{TW_CUDA, cleared.sentence()};
}

const char* checked_target(const char* target) {
  if (target == nullptr) return usual_target;
  if (const TargetFacts* const known = target_named(target)) return known->name;
  throw Failure{TW_INVALID, no_target(target)};
}

void check_virtual_gpu(bool is_there) {
  if (is_there) return;
  throw Failure{TW_UNSUPPORTED,
                "This library has no virtual GPU: the compiled Boost.Context was not found when it "
                "was configured."};
}

void check_report(const vgpu::Report& report) {
  if (!report.findings.empty()) {
    const vgpu::Finding& finding = report.findings.front();
    throw Failure{TW_FOUND, finding.name + ": " + finding.text};
  }
  if (!report.incomplete.empty()) {
    throw Failure{TW_FOUND, "The run was not completed: " + report.incomplete.front()};
  }
}

std::size_t stated_size(const void* problem) {
  std::size_t size = 0;
  std::memcpy(&size, problem, sizeof size);
  return size;
}

void check_size(const char* name, const void* given, std::size_t size, std::size_t expected,
                const char* initialiser) {
  if (given == nullptr) throw Failure{TW_INVALID, fmt::format("The {} is null.", name)};
  if (size == expected) return;
  throw Failure{
      TW_INVALID,
      fmt::format("The size of the {} is {}, but this library's has {} bytes: {} sets it.", name,
                  size, expected, initialiser)};
}

void set_usual(tw_options& options) {
  std::memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.fast_accumulation = 1;
  options.workspace_limit = std::size_t{256} << 20;
}

tw_options usual_options() {
  tw_options options;
  set_usual(options);
  return options;
}

tw_options checked_options(const tw_options* options) {
  if (options == nullptr) return usual_options();
  check_size("options", options, options->size, sizeof *options, "tw_matmul_init");
  return *options;
}

}  // namespace tw::library
