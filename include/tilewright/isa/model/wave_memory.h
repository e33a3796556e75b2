// What the virtual GPU must implement for isa/amdgcn/wave_memory.h.
#pragma once

#include "tilewright/isa/model.h"

namespace tw {

// Memory that a buffer load may read: `bytes` from `base` on, the same in all lanes. What lies
// outside reads as zero.
struct BufferResource {
  const void* base;
  std::uint32_t bytes;
};

}  // namespace tw

#if TW_MODELLED
namespace tw::model {

// Lane l writes `bytes` bytes at first + l * bytes, from base + offset on.
void buffer_load_lds(SharedAddress first, const BufferResource& resource, std::uint32_t offset,
                     unsigned bytes);
// The registers are filled when a wait says so.
void ds_read(std::uint32_t* registers, SharedAddress address, unsigned bytes);
void ds_read_tr_b16(std::uint32_t* registers, SharedAddress address);
// Waits until at most so many loads (vmcnt) and reads of LDS (lgkmcnt) are still in flight.
void s_waitcnt(unsigned vmcnt, unsigned lgkmcnt);
void s_barrier();
void s_setprio(unsigned priority);

}  // namespace tw::model
#endif
