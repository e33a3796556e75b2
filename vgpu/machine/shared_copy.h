// cp.async.bulk from the shared memory of one CTA to that of another, between issue and landing.
#pragma once

#include <cstdint>

#include "vgpu/machine/copy_operation.h"

namespace tw::vgpu {

struct SharedCopyOperation {
  Cta* from;
  Cta* to;
  std::uint32_t from_offset, to_offset;
  std::uint32_t bytes;
  Reduce reduce;  // null: the bytes replace what was there
  Mbarrier* barrier;
  const Thread* issuer;
  std::uint64_t done_time;
};

void discard_shared_copy(void* operation);

}  // namespace tw::vgpu
