// st.async between issue and landing.
#pragma once

#include <cstdint>

#include "vgpu/machine/engine.h"

namespace tw::vgpu {

struct StoreAsyncOperation {
  Cta* cta;
  std::uint32_t offset;
  std::uint32_t bytes;
  Mbarrier* barrier;
  std::uint64_t done_time;
  std::byte value[16];
};

void discard_store_async(void* operation);

}  // namespace tw::vgpu
