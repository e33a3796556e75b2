// ldmatrix and mma.sync: which bytes go to which lane, and what a warp's product is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tilewright/isa/model/warp_matrix.h"

namespace tw::vgpu {

// rows[8i + r] is the address of row r of matrix i: 16 bytes, eight b16. Address is anything that
// takes "+ bytes". Calls visit(lane, matrix, address, at, bytes) once per contiguous piece that
// goes to byte `at` of register `matrix` of the lane: 4 bytes at row l/4, column 2(l%4), or, if
// transposed, 2 x 2 bytes at column l/4, rows 2(l%4) and + 1.
template <class Address, class Visitor>
void for_each_ldmatrix_piece(const Address* rows, unsigned matrices, bool transposed,
                             Visitor&& visit) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned matrix = 0; matrix < matrices; ++matrix) {
      const Address* matrix_rows = rows + 8 * matrix;
      if (transposed) {
        const Address* pair = matrix_rows + 2 * (lane % 4);
        const unsigned column_bytes = 2 * (lane / 4);
        visit(lane, matrix, pair[0] + column_bytes, 0u, 2u);
        visit(lane, matrix, pair[1] + column_bytes, 2u, 2u);
      } else {
        visit(lane, matrix, matrix_rows[lane / 4] + 4 * (lane % 4), 0u, 4u);
      }
    }
  }
}

// The registers of each lane: four of a, two of b, four sums (float, or s32 for S8).
struct MmaLanes {
  const std::uint32_t* a[32];
  const std::uint32_t* b[32];
  void* d[32];
};

// d += a b of 16 x 8 x (32 bytes of k); isa/ptx/warp_matrix.h says where elements are. Float sums
// in order of k: products are exact in f32, so the result is the hardware's whenever every partial
// sum is exact, as with small integers. Integer sums wrap.
void mma_m16n8(MmaType type, const MmaLanes& lanes);

}  // namespace tw::vgpu
