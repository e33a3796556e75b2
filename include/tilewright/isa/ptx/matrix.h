// Small matrices between registers and shared memory.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"

namespace tw::isa {

// stmatrix.sync.aligned.m8n8.x4.shared.b16 [row], {r0,r1,r2,r3};  PTX 7.8, sm_90.
// Lanes 8i..8i+7 give the addresses of the eight 16-byte rows of matrix i.
TW_DEVICE void stmatrix_x4(SharedAddress row, std::uint32_t r0, std::uint32_t r1, std::uint32_t r2,
                           std::uint32_t r3) {
#if defined(__CUDACC__)
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
               "r"(r0), "r"(r1), "r"(r2), "r"(r3)
               : "memory");
#else
  const std::uint32_t registers[4] = {r0, r1, r2, r3};
  model::stmatrix(row, registers, 4, false);
#endif
}

// stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [row], {r0,r1,r2,r3};  PTX 7.8, sm_90.
// As above, of the transposed matrices: register i of lane l goes to column l/4 of rows 2(l%4) and
// 2(l%4) + 1 of matrix i.
TW_DEVICE void stmatrix_x4_transposed(SharedAddress row, std::uint32_t r0, std::uint32_t r1,
                                      std::uint32_t r2, std::uint32_t r3) {
#if defined(__CUDACC__)
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row),
               "r"(r0), "r"(r1), "r"(r2), "r"(r3)
               : "memory");
#else
  const std::uint32_t registers[4] = {r0, r1, r2, r3};
  model::stmatrix(row, registers, 4, true);
#endif
}

// stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [row], {r0,r1};  PTX 7.8, sm_90.
// The same of two matrices: the addresses of lanes 16..31 are not read.
TW_DEVICE void stmatrix_x2_transposed(SharedAddress row, std::uint32_t r0, std::uint32_t r1) {
#if defined(__CUDACC__)
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(row), "r"(r0),
               "r"(r1)
               : "memory");
#else
  const std::uint32_t registers[2] = {r0, r1};
  model::stmatrix(row, registers, 2, true);
#endif
}

}  // namespace tw::isa
