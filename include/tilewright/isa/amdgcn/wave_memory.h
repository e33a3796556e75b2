// A wave of CDNA counts what it has on its way: vmcnt the loads from global memory to LDS, lgkmcnt
// the reads of LDS. s_barrier waits for neither.
//
// The compiler waits before registers are used, but for nothing else: not for loads to LDS, and
// for reads of LDS maybe only behind a barrier. So whoever hands LDS on by s_barrier says here for
// what he waited. Neither the compiler nor its scheduler moves accesses across these waits.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model/counter.h"
#include "tilewright/isa/model/wave_memory.h"

namespace tw::isa {

// The most that the counters can tell apart: no wait.
constexpr unsigned any_vmcnt = 63;
constexpr unsigned any_lgkmcnt = 15;

#if defined(__HIP__)
// Nothing that touches memory is moved across it, by the optimiser or by the scheduler.
TW_DEVICE void keep_memory_order() {
  asm volatile("" ::: "memory");
  __builtin_amdgcn_sched_barrier(0);
}
#endif

// buffer_load_dword offset, resource, 0 offen lds;  gfx942; 4 bytes
// buffer_load_dwordx4 offset, resource, 0 offen lds;  gfx950; 16 bytes
// Lane l writes `bytes` bytes of LDS at first + l * bytes, where `first` (M0) and the resource are
// the same in all lanes, from the resource's byte `offset` on. Words outside of the resource are
// written as zeros. vmcnt counts it; the wave's own reads wait for it no less than others'.
template <unsigned bytes>
TW_DEVICE void buffer_load_lds(SharedAddress first, const BufferResource& resource,
                               std::uint32_t offset) {
  static_assert(bytes == 4 || bytes == 16, "Lanes load 4 bytes to LDS, or 16 on gfx950.");
#if defined(__HIP__)
  const auto words = __builtin_amdgcn_make_buffer_rsrc(const_cast<void*>(resource.base), 0,
                                                       resource.bytes, 0x00020000);
  auto* const to = reinterpret_cast<__attribute__((address_space(3))) void*>(
      static_cast<unsigned>(__builtin_amdgcn_readfirstlane(static_cast<int>(first))));
  // The builtin takes its size as a literal.
#if defined(__gfx950__)
  if constexpr (bytes == 16) {
    __builtin_amdgcn_raw_ptr_buffer_load_lds(words, to, 16, static_cast<int>(offset), 0, 0, 0);
  }
#else
  static_assert(bytes == 4, "Loads of 16 bytes to LDS need gfx950.");
#endif
  if constexpr (bytes == 4) {
    __builtin_amdgcn_raw_ptr_buffer_load_lds(words, to, 4, static_cast<int>(offset), 0, 0, 0);
  }
#else
  model::buffer_load_lds(first, resource, offset, bytes);
#endif
}

// ds_read_b128 registers, address;  gfx942. lgkmcnt counts it.
TW_DEVICE void ds_read_b128(std::uint32_t (&registers)[4], SharedAddress address) {
#if defined(__HIP__)
  typedef std::uint32_t Words __attribute__((ext_vector_type(4), may_alias));
  const Words words = *reinterpret_cast<__attribute__((address_space(3))) Words*>(address);
  __builtin_memcpy(registers, &words, sizeof(registers));
#else
  model::ds_read(registers, address, 16);
#endif
}

// ds_read_b32 register, address;  gfx942. lgkmcnt counts it.
TW_DEVICE void ds_read_b32(std::uint32_t (&registers)[1], SharedAddress address) {
#if defined(__HIP__)
  registers[0] = *reinterpret_cast<__attribute__((address_space(3))) std::uint32_t*>(address);
#else
  model::ds_read(registers, address, 4);
#endif
}

// ds_read_b64_tr_b16 registers, address;  gfx950. Each lane gives the address of four elements of
// 16 bits; 16 lanes together those of four lines of 16, four lanes a line. Lane l gets element
// l % 16 of each line. lgkmcnt counts it.
template <unsigned count>
TW_DEVICE void ds_read_b64_tr_b16([[maybe_unused]] std::uint32_t (&registers)[count],
                                  [[maybe_unused]] SharedAddress address) {
  static_assert(count == 2, "Four elements of 16 bits fill two registers.");
#if defined(__gfx950__)
  typedef short Halves __attribute__((ext_vector_type(4)));
  const Halves halves = __builtin_amdgcn_ds_read_tr16_b64_v4i16(
      reinterpret_cast<__attribute__((address_space(3))) Halves*>(address));
  __builtin_memcpy(registers, &halves, sizeof(registers));
#elif defined(__HIP__)
  static_assert(count == 0, "Transposed reads of LDS need gfx950.");
#else
  model::ds_read_tr_b16(registers, address);
#endif
}

// s_waitcnt vmcnt(v) lgkmcnt(l);  gfx942. At most so many of the wave's latest loads to LDS, and
// reads of LDS, are on their way afterwards. Other accesses to memory count as well, in order: they
// can only make a wait longer.
template <unsigned vmcnt, unsigned lgkmcnt>
TW_DEVICE void s_waitcnt() {
  static_assert(vmcnt <= any_vmcnt && lgkmcnt <= any_lgkmcnt, "vmcnt has 6 bits, lgkmcnt 4.");
#if defined(__HIP__)
  keep_memory_order();
  __builtin_amdgcn_s_waitcnt(vmcnt % 16 | 7 << 4 | lgkmcnt << 8 | vmcnt / 16 << 14);
  keep_memory_order();
#else
  model::s_waitcnt(vmcnt, lgkmcnt);
#endif
}

// ds_add_u32 counter, value;  gfx942. LDS instructions of a wave are executed in order: who sees it
// sees what the wave had written to LDS before, and loads to LDS for which it had waited.
TW_DEVICE void ds_add_u32(SharedAddress counter, unsigned value) {
#if defined(__HIP__)
  __scoped_atomic_fetch_add(
      reinterpret_cast<__attribute__((address_space(3))) std::uint32_t*>(counter), value,
      __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
#else
  model::counter_add_release(counter, value);
#endif
}

// s_barrier;  gfx942. All waves of the workgroup meet. It waits for no access: what was waited for
// before it is known to all behind it.
TW_DEVICE void s_barrier() {
#if defined(__HIP__)
  keep_memory_order();
  __builtin_amdgcn_s_barrier();
  keep_memory_order();
#else
  model::s_barrier();
#endif
}

// s_setprio priority;  gfx942. 0 to 3: of the waves of a SIMD, who issues first.
template <unsigned priority>
TW_DEVICE void s_setprio() {
  static_assert(priority <= 3, "There are priorities 0 to 3.");
#if defined(__HIP__)
  __builtin_amdgcn_s_setprio(priority);
#else
  model::s_setprio(priority);
#endif
}

}  // namespace tw::isa
