// Counters: the signal that needs no barrier hardware. They only grow, and they may wrap: a wait
// compares by the sign of the difference.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model/counter.h"

namespace tw::isa {

// st.relaxed.cta.shared::cta.u32 [counter], 0;  PTX 6.0, sm_70. Others may use it after a barrier.
TW_DEVICE void counter_init(SharedAddress counter) {
#if defined(__CUDACC__)
  asm volatile("st.relaxed.cta.shared::cta.u32 [%0], 0;" ::"r"(counter) : "memory");
#else
  model::counter_init(counter);
#endif
}

// red.release.cta.shared::cta.add.u32 [counter], value;  PTX 6.0, sm_70
TW_DEVICE void counter_add_release(SharedAddress counter, unsigned value) {
#if defined(__CUDACC__)
  asm volatile("red.release.cta.shared::cta.add.u32 [%0], %1;" ::"r"(counter), "r"(value)
               : "memory");
#else
  model::counter_add_release(counter, value);
#endif
}

// ld.acquire.cta.shared::cta.u32 d, [counter];  PTX 6.0, sm_70, until (int)(d - target) >= 0.
TW_DEVICE void counter_wait_at_least(SharedAddress counter, unsigned target) {
#if defined(__CUDACC__)
  unsigned value;
  do {
    asm volatile("ld.acquire.cta.shared::cta.u32 %0, [%1];"
                 : "=r"(value)
                 : "r"(counter)
                 : "memory");
  } while (static_cast<int>(value - target) < 0);
#else
  model::counter_wait_at_least(counter, target);
#endif
}

// red.release.gpu.global.add.u32 [counter], value;  PTX 6.0, sm_70
// Publishes what this thread wrote, and what others of its CTA wrote before a barrier with it.
TW_DEVICE void global_add_release(std::uint32_t* counter, unsigned value) {
#if defined(__CUDACC__)
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(value) : "memory");
#else
  model::global_add_release(counter, value);
#endif
}

// st.release.gpu.global.u32 [counter], value;  PTX 6.0, sm_70
TW_DEVICE void global_store_release(std::uint32_t* counter, unsigned value) {
#if defined(__CUDACC__)
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(counter), "r"(value) : "memory");
#else
  model::global_store_release(counter, value);
#endif
}

// ld.acquire.gpu.global.u32 d, [counter];  PTX 6.0, sm_70, until (int)(d - target) >= 0.
TW_DEVICE void global_wait_at_least(const std::uint32_t* counter, unsigned target) {
#if defined(__CUDACC__)
  unsigned value;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(counter) : "memory");
  } while (static_cast<int>(value - target) < 0);
#else
  model::global_wait_at_least(counter, target);
#endif
}

// atom.relaxed.gpu.global.add.u32 d, [counter], value;  PTX 6.0, sm_70. The value before.
TW_DEVICE std::uint32_t global_fetch_add(std::uint32_t* counter, unsigned value) {
#if defined(__CUDACC__)
  std::uint32_t before;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(counter), "r"(value)
               : "memory");
  return before;
#else
  return model::global_fetch_add(counter, value);
#endif
}

// red.relaxed.gpu.global.max.u32 [maximum], bits;  PTX 6.0, sm_70
// Floats that are not negative are ordered as their bits are, NaN above all.
TW_DEVICE void global_atomic_max_float_bits(std::uint32_t* maximum, std::uint32_t bits) {
#if defined(__CUDACC__)
  asm volatile("red.relaxed.gpu.global.max.u32 [%0], %1;" ::"l"(maximum), "r"(bits) : "memory");
#else
  model::global_atomic_max(maximum, bits);
#endif
}

}  // namespace tw::isa
