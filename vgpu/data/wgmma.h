// wgmma.m64nNk16 on bf16 with f32 accumulators: the numbers, without time or addresses.
//   d (64 x n) = a (64 x 16) b (16 x n) + (accumulate ? d : 0), n a multiple of 8 up to 256.
// Accumulators: thread t's value v is d(m, n) with
//   m = 16*(t/32) + (t%32)/4 + 8*((v/2)%2),  n = 2*(t%4) + v%2 + 8*(v/4).
// A in registers: thread t's register i holds, low half first, the pair of a at
//   m = 16*(t/32) + (t%32)/4 + 8*(i%2),  k = 2*(t%4) + 8*(i/2) and k + 1.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tw::vgpu {

// A chunk is 16 bytes: eight bf16 along k. B is K-major too: row n of b_chunks is column n of b.
struct WgmmaOperands {
  const std::byte* a_chunks[64][2];
  const std::uint32_t* a_registers[128];  // read instead of a_chunks if a_from_registers
  bool a_from_registers;
  const std::byte* b_chunks[256][2];
};

// Fast: float sums in order of k. Products of bf16 are exact in f32, so a machine with fused
// multiply-add gives the same bits as one without (short of overflow and subnormal products). Equal
// to the hardware whenever every partial sum is exact, as with small integers.
void wgmma_bf16_m64k16(float* const fragments[128], unsigned n, const WgmmaOperands& operands,
                       bool accumulate);

// The hardware's arithmetic, after MMA-Sim: the 16 exact products and the accumulator are aligned
// to the largest exponent among them, each is truncated toward zero to 25 fractional bits there,
// the sum is exact, and the result is rounded toward zero to f32. The exponent of a product is the
// sum of its factors' exponents: it is not normalised first. Where an H200 differs from MMA-Sim, we
// follow the H200: terms that are zero have no exponent, and the largest is at least -133. A zero
// result is positive, overflow is infinite, and every NaN is 0x7fffffff.
// 5.2 million results of an H200 agree bit by bit, over all ranges, subnormals and infinities.
void wgmma_bf16_m64k16_exact(float* const fragments[128], unsigned n, const WgmmaOperands& operands,
                             bool accumulate);

}  // namespace tw::vgpu
