// wgmma with A from registers.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"
#include "tilewright/isa/ptx/wgmma.h"
#include "tilewright/isa/ptx/wgmma_register_instruction.h"

namespace tw::isa {

// wgmma.mma_async.sync.aligned.m64nNk16.f32.T.T {d}, {a}, b, accumulate, 1, 1, trans-b;
//     PTX 8.0, sm_90a. T is bf16 or f16; four pairs per thread; B K-major, or (transposed) N-major.
// wgmma.mma_async.sync.aligned.m64nNk32.f32.e4m3.e4m3 {d}, {a}, b, accumulate, 1, 1;
//     PTX 8.0, sm_90a. Four elements in a register; B K-major.
template <ElementType type, unsigned n, unsigned b_transposed = 0>
TW_DEVICE void wgmma_register(float (&d)[n / 2], const std::uint32_t (&a)[4], std::uint64_t b,
                              bool accumulate) {
  static_assert(bytes_of(type) == 2 || b_transposed == 0, "B of 8-bit elements is K-major.");
#if defined(__CUDACC__)
  WgmmaRegisterInstruction<type, n>::template issue<b_transposed>(d, a, b, accumulate);
#else
  model::wgmma(WgmmaShape{.a = type, .b = type, .n = n, .b_transposed = b_transposed}, d, 0, a, b,
               accumulate);
#endif
}

// No instruction: these registers are still wanted here, behind the wait for the products that read
// them, so that nothing else lies in them before.
template <unsigned count>
TW_DEVICE void wgmma_registers([[maybe_unused]] std::uint32_t (&values)[count]) {
#if defined(__CUDACC__)
  TW_UNROLL
  for (std::uint32_t& value : values) asm volatile("" : "+r"(value)::"memory");
#endif
}

// No instruction: what is done with the registers of a thread's upper (0) or lower (1) row stays
// before a wait, though the compiler knows of no reason.
template <unsigned half, unsigned count>
TW_DEVICE void wgmma_registers_of_row([[maybe_unused]] float (&values)[count]) {
  static_assert(half < 2, "A thread holds values of two rows.");
#if defined(__CUDACC__)
  TW_UNROLL
  for (unsigned i = 2 * half; i < count; i += 4) {
    asm volatile("" : "+f"(values[i]), "+f"(values[i + 1]));
  }
#endif
}

}  // namespace tw::isa
