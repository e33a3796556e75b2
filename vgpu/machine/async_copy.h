// cp.async copies between issue and landing.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/machine/engine.h"

namespace tw::vgpu {

// Copies of one thread and epoch.
struct CopyBatch {
  Thread* issuer;
  Epoch epoch;
  std::uint64_t done_time;
  struct Copy {
    std::uint32_t offset;
    std::uint32_t bytes;
    std::uint32_t source_bytes;
    const void* source;
  };
  std::vector<Copy> copies;
};

void discard_thread_copies(void* operation);

}  // namespace tw::vgpu
