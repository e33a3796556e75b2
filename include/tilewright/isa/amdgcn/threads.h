// Threads, waves and workgroups of CDNA, by the names that every target has. A workgroup is a CTA,
// a wave of 64 lanes is a warp, and there are no clusters.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"

namespace tw::isa {

TW_DEVICE unsigned thread_index() { return __builtin_amdgcn_workitem_id_x(); }
TW_DEVICE unsigned cta_index() { return __builtin_amdgcn_workgroup_id_x(); }

// hidden_block_count_x: the first of a kernel's implicit arguments (code object version 5).
TW_DEVICE unsigned cta_count() {
  using Hidden = const __attribute__((address_space(4))) unsigned;
  return *(Hidden*)__builtin_amdgcn_implicitarg_ptr();
}

// Every CTA is alone.
TW_DEVICE unsigned cluster_rank() { return 0; }
TW_DEVICE void cluster_arrive() {}
TW_DEVICE void cluster_wait() {}

// s_memrealtime;  100 MHz
TW_DEVICE std::uint64_t global_timer() { return __builtin_amdgcn_s_memrealtime() * 10; }

// The first byte of the workgroup's dynamic LDS.
TW_DEVICE void* dynamic_shared() {
  extern __attribute__((shared, aligned(1024))) unsigned char tw_dynamic_shared[];
  return tw_dynamic_shared;
}

// An address in LDS has 32 bits, and the first is 0.
TW_DEVICE SharedAddress shared_address(const void* pointer) {
  const auto* local = (const __attribute__((address_space(3))) void*)pointer;
  return __builtin_bit_cast(SharedAddress, local);
}

// What a wave executes together.

TW_DEVICE unsigned warp_lanes() { return 64; }

TW_DEVICE bool elect_one() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)) == 0;
}

// A wave goes in lock step, and its LDS instructions in order: only the compiler must keep it.
TW_DEVICE void warp_sync() {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
}

// ds_bpermute_b32; from lane 0 v_readfirstlane_b32, whose result is a scalar.
TW_DEVICE std::uint32_t shuffle(std::uint32_t value, unsigned source_lane) {
  const int bits = static_cast<int>(value);
  if (__builtin_constant_p(source_lane) && source_lane == 0) {
    return static_cast<std::uint32_t>(__builtin_amdgcn_readfirstlane(bits));
  }
  return static_cast<std::uint32_t>(
      __builtin_amdgcn_ds_bpermute(static_cast<int>(source_lane * 4), bits));
}

// Waves keep the registers that they were launched with.
template <unsigned registers>
TW_DEVICE void setmaxnreg_decrease() {}
template <unsigned registers>
TW_DEVICE void setmaxnreg_increase() {}

// Multipliers for divisions would take scalar registers, of which kernels have too few.
inline constexpr bool foresees_divisions = false;

// s_waitcnt; s_barrier. It waits for no access by itself: the fences do.
TW_DEVICE void barrier_sync(unsigned id, unsigned /*threads*/)
    __attribute__((diagnose_if(id != 0, "CDNA has one barrier, of the workgroup.", "error"))) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// There are neither barriers in memory nor a proxy to tell of writes.
TW_DEVICE void fence_mbarrier_init() {}
TW_DEVICE void fence_proxy_async() {}

}  // namespace tw::isa
