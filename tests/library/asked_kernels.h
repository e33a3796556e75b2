// Kernels whose own `supports` is asked, compiled with the sanitizers as the library is; beside
// each stands one that takes whatever arrives, so that calls go on. Nothing is launched.
#pragma once

#define TW_INSTANCE_WITH_CUDA 0
#define TW_INSTANCE_WITH_VGPU 0
#include "src/instances/launch_streaming.h"
#include "src/instances/launch_warp_specialized.h"

namespace tw::tests {

inline Status takes(const KernelProblem&, const LaunchOrder&) { return Status::good(); }
inline Status needs_nothing(std::size_t& bytes, const Checked&, const LaunchOptions&) {
  bytes = 0;
  return Status::good();
}
inline Status starts(const Checked&, const LaunchOptions&, void*) { return Status::good(); }

// Both for the device that stands in, whatever they are compiled for.
template <class Launch, class Kernel, class Planned>
std::span<const Instance> asked_first() {
  static const void* const facts = &Launch::template facts<Kernel>;
  static const Instance table[] = {
      {"asked", "sm90a", 1, facts, Planned::take, Planned::takes, needs_nothing, starts, nullptr},
      {"takes_all", "sm90a", 1, facts, Planned::take, takes, needs_nothing, starts, nullptr}};
  return table;
}
template <class Launch, class Kernel>
std::span<const Instance> warp_specialized() {
  return asked_first<Launch, Kernel, LaunchWarpSpecialized<Launch, Kernel>>();
}
template <class Launch, class Kernel>
std::span<const Instance> streaming() {
  return asked_first<Launch, Kernel, LaunchStreaming<Launch, Kernel>>();
}

}  // namespace tw::tests
