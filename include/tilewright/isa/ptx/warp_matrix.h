// Matrix products of one warp: fragments from shared memory (ldmatrix) and the product (mma.sync).
#pragma once

#include <type_traits>

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model/warp_matrix.h"

namespace tw::isa {

// ldmatrix.sync.aligned.m8n8.x4.shared.b16 {r0,r1,r2,r3}, [row];  PTX 6.5, sm_75
// Lanes 8i..8i+7 give the addresses of the eight 16-byte rows of matrix i. Register i of lane l
// gets the elements at row l/4, columns 2(l%4) and 2(l%4) + 1 of matrix i.
TW_DEVICE void ldmatrix_x4(std::uint32_t (&r)[4], SharedAddress row) {
#if defined(__CUDACC__)
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row)
               : "memory");
#else
  model::ldmatrix_x4(r, row, false);
#endif
}

// ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {r0,r1,r2,r3}, [row];  PTX 6.5, sm_75
// As above, of the transposed matrices: column l/4, rows 2(l%4) and 2(l%4) + 1.
TW_DEVICE void ldmatrix_x4_transposed(std::uint32_t (&r)[4], SharedAddress row) {
#if defined(__CUDACC__)
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(row)
               : "memory");
#else
  model::ldmatrix_x4(r, row, true);
#endif
}

// The k of one mma_sync: 32 bytes of elements.
constexpr unsigned mma_k(MmaType type) {
  return type == MmaType::Tf32 ? 8 : type == MmaType::S8 ? 32 : 16;
}

template <MmaType type>
using MmaSum = std::conditional_t<type == MmaType::S8, std::int32_t, float>;

// mma.sync.aligned.m16n8kK.row.col.f32.T.T.f32 d, a, b, d;  PTX 7.0, sm_80 (s32.s8.s8.s32 for S8)
// d += a b: a is 16 x k by rows, b is k x 8 by columns, so the k of both is contiguous. With
// e elements in a register, g = lane / 4 and q = lane % 4:
//   a[i]: row g + 8 (i % 2),  k = e q + 4 e (i / 2) and the e - 1 after it
//   b[i]: column g,           k = e q + 4 e i       and the e - 1 after it
//   d[i]: row g + 8 (i / 2),  column 2 q + i % 2
// One ldmatrix_x4 of rows of 16 bytes gives a, and b for two n. tf32 reads the upper 19 bits.
template <MmaType type>
TW_DEVICE void mma_sync(MmaSum<type> (&d)[4], const std::uint32_t (&a)[4],
                        const std::uint32_t (&b)[2]) {
#if defined(__CUDACC__)
#define TW_MMA(SHAPE_AND_TYPES, C)                                                \
  asm volatile("mma.sync.aligned." SHAPE_AND_TYPES                                \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
               : C(d[0]), C(d[1]), C(d[2]), C(d[3])                               \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
  if constexpr (type == MmaType::Bf16) TW_MMA("m16n8k16.row.col.f32.bf16.bf16.f32", "+f");
  if constexpr (type == MmaType::F16) TW_MMA("m16n8k16.row.col.f32.f16.f16.f32", "+f");
  if constexpr (type == MmaType::Tf32) TW_MMA("m16n8k8.row.col.f32.tf32.tf32.f32", "+f");
  if constexpr (type == MmaType::S8) TW_MMA("m16n8k32.row.col.s32.s8.s8.s32", "+r");
#undef TW_MMA
#else
  model::mma_sync(type, d, a, b);
#endif
}

}  // namespace tw::isa
