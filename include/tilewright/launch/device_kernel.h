// A kernel states here what it needs of a device: CUDA, HIP and the virtual GPU launch it by the
// same facts.
#pragma once

#include <cstddef>

#include "tilewright/arch/target.h"

namespace tw {

// Capabilities as TargetFacts has them, the last one excluded.
struct KernelNeeds {
  unsigned cluster_size;
  bool in_clusters;
  int capability_begin;
  int capability_end;
  unsigned threads;
  std::size_t shared_bytes;
  bool dependent_launch;
  unsigned lanes = 32;     // threads of a warp
  unsigned registers = 0;  // a thread has so many at the launch; 0: roles shift none
  int ptx_begin = 0;       // devices from here on compile its PTX
  int ptx_end = 0;
};

// The most shared memory that a CTA has on devices that compile PTX: sm_120 has no more than sm_86.
inline constexpr std::size_t ptx_shared_bytes = 101376;

// Registers of each thread with which a kernel is launched that shifts them; 0: another one.
template <class Kernel>
constexpr unsigned launched_registers() {
  constexpr auto roles = Kernel::roles;
  if constexpr (roles.holding().registers == 0) {
    return 0;
  } else {
    return roles.launched_registers(Kernel::Target::registers) / roles.threads();
  }
}

// The needs of a warp-specialised kernel.
template <class Kernel, class Skeleton>
inline constexpr KernelNeeds needs_of = {Kernel::config.tiling.cluster.size(),
                                         Kernel::in_clusters,
                                         Kernel::Target::target.capability_begin,
                                         Kernel::Target::target.capability_end,
                                         Skeleton::threads,
                                         sizeof(typename Skeleton::Storage),
                                         Kernel::dependent_launch,
                                         Kernel::Target::target.lanes,
                                         launched_registers<Kernel>(),
                                         Kernel::Target::target.ptx_begin,
                                         Kernel::Target::target.ptx_end};

// The functions of a vendor's run-time library that runs call beside launches. CUDA's and HIP's
// take the same arguments and mean the same by them; 0 is success.
struct DeviceRuntime {
  static constexpr int to_device = 1, to_host = 2;  // kinds of copies
  static constexpr int not_ready = 600;             // what `query` says of a stream that is busy

  int (*allocate)(void** memory, std::size_t bytes);
  int (*free)(void* memory);
  int (*fill)(void* memory, int byte, std::size_t bytes);
  int (*copy)(void* to, const void* from, std::size_t bytes, int kind);
  int (*query)(void* stream);
  int (*synchronize)();
  int (*create_event)(void** event);
  int (*record)(void* event, void* stream);
  int (*elapsed)(float* milliseconds, void* begin, void* end);
  int (*destroy_event)(void* event);
  const char* (*error)(int status);
};

// Whether a target's kernels are launched by HIP, not by CUDA.
constexpr bool is_of_hip(const TargetFacts& target) { return target.name[0] == 'g'; }

}  // namespace tw
