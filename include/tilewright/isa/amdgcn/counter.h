// Counters of CDNA, in LDS and in global memory. A release makes the wave wait for all its accesses
// first (s_waitcnt vmcnt(0) lgkmcnt(0)).
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"

namespace tw::isa {

using LocalCounter = __attribute__((address_space(3))) std::uint32_t*;
using GlobalCounter = __attribute__((address_space(1))) std::uint32_t*;

TW_DEVICE LocalCounter local_counter(SharedAddress counter) {
  return reinterpret_cast<LocalCounter>(counter);
}

// ds_write_b32. Others may use it after a barrier.
TW_DEVICE void counter_init(SharedAddress counter) {
  __scoped_atomic_store_n(local_counter(counter), 0u, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
}

// s_waitcnt; ds_add_u32
TW_DEVICE void counter_add_release(SharedAddress counter, unsigned value) {
  __scoped_atomic_fetch_add(local_counter(counter), value, __ATOMIC_RELEASE, __MEMORY_SCOPE_WRKGRP);
}

// ds_read_b32 until (int)(d - target) >= 0; s_sleep in between leaves the SIMD to others.
TW_DEVICE void counter_wait_at_least(SharedAddress counter, unsigned target) {
  while (static_cast<int>(__scoped_atomic_load_n(local_counter(counter), __ATOMIC_ACQUIRE,
                                                 __MEMORY_SCOPE_WRKGRP) -
                          target) < 0) {
    __builtin_amdgcn_s_sleep(1);
  }
}

// s_waitcnt; buffer_wbl2; global_atomic_add
TW_DEVICE void global_add_release(std::uint32_t* counter, unsigned value) {
  __scoped_atomic_fetch_add((GlobalCounter)counter, value, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
}

// s_waitcnt; buffer_wbl2; global_store_dword
TW_DEVICE void global_store_release(std::uint32_t* counter, unsigned value) {
  __scoped_atomic_store_n((GlobalCounter)counter, value, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
}

// global_load_dword; buffer_inv, until (int)(d - target) >= 0
TW_DEVICE void global_wait_at_least(const std::uint32_t* counter, unsigned target) {
  while (static_cast<int>(__scoped_atomic_load_n((GlobalCounter)counter, __ATOMIC_ACQUIRE,
                                                 __MEMORY_SCOPE_DEVICE) -
                          target) < 0) {
    __builtin_amdgcn_s_sleep(1);
  }
}

// global_atomic_umax
TW_DEVICE void global_atomic_max_float_bits(std::uint32_t* maximum, std::uint32_t bits) {
  __scoped_atomic_fetch_max((GlobalCounter)maximum, bits, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

}  // namespace tw::isa
