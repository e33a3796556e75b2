// wgmma.m64nNkK: the numbers, without time or addresses.
//   d (64 x n) = a (64 x k) b (k x n) + (accumulate ? d : 0); isa/wgmma_shape.h says what is legal.
// Accumulators: thread t's value v is d(m, n) with
//   m = 16*(t/32) + (t%32)/4 + 8*((v/2)%2),  n = 2*(t%4) + v%2 + 8*(v/4).
// A in registers, of which each holds e elements (2 of 16 bits, 4 of 8), the lowest bits first:
//   thread t's register i holds those of a at m = 16*(t/32) + (t%32)/4 + 8*(i%2) from
//   k = e*(t%4) + 4*e*(i/2) on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilewright/isa/wgmma_shape.h"

namespace tw::vgpu {

// A chunk is 16 bytes. K-major, chunk 2*row + i is half i of the 32 bytes of a row (B's rows are
// the columns of b). Transposed, chunk 16*g + k is the elements 8g to 8g + 7 of m or n at this k.
struct WgmmaOperands {
  const std::byte* a_chunks[64 * 2];
  const std::uint32_t* a_registers[128];  // read instead of a_chunks if a_from_registers
  bool a_from_registers;
  const std::byte* b_chunks[256 * 2];
};

// Fast: sums in order of k, float or (modulo 2^32) integer. Products of two elements are exact in
// f32, so a machine with fused multiply-add gives the same bits as one without (short of overflow
// and subnormal products). Equal to the hardware whenever every partial sum is exact there: small
// integers are, but with fp8 only below 2^14. Of tf32 the lower 13 bits are ignored. `fragments`
// are the threads' registers: bits of float or of std::int32_t.
void wgmma_m64(const WgmmaShape& shape, std::uint32_t* const fragments[128],
               const WgmmaOperands& operands, bool accumulate);

// The hardware's arithmetic, after MMA-Sim: the exact products and the accumulator are aligned to
// the largest exponent among them, each is truncated toward zero to 25 fractional bits there (fp8:
// 13), the sum is exact, and the result is rounded toward zero to f32 (fp8: to 13 bits of
// fraction). The exponent of a product is the sum of its factors' exponents: it is not normalised
// first. Where an H200 differs from MMA-Sim, we follow the H200: terms that are zero have no
// exponent, and the largest is at least -133. A zero result is positive, overflow is infinite, and
// every NaN is 0x7fffffff.
// bf16: 5.2 million results of an H200 agree bit by bit, over all ranges, subnormals and
// infinities. The other types have not been compared with an H200 yet. s8 is exact anyway.
void wgmma_m64_exact(const WgmmaShape& shape, std::uint32_t* const fragments[128],
                     const WgmmaOperands& operands, bool accumulate);

}  // namespace tw::vgpu
