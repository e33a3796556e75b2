// stmatrix: which bytes the registers of a warp go to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tw::vgpu {

// rows[8i + r] is the address of row r of matrix i: 16 bytes, eight b16. Address is anything that
// takes "+ bytes": a SharedAddress, a std::byte*. registers[l][i] is lane l's share of matrix i:
// the pair at row l/4, columns 2(l%4) and + 1; if transposed, at column l/4, rows 2(l%4) and + 1.
// Calls visit(lane, matrix, address, const std::byte* value, bytes) once per contiguous piece:
// 4 bytes per lane and matrix, or 2 x 2 if transposed.
template <class Address, class Visitor>
void for_each_stmatrix_piece(const Address* rows, const std::uint32_t (*registers)[4],
                             unsigned matrices, bool transpose, Visitor&& visit) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned matrix = 0; matrix < matrices; ++matrix) {
      std::byte value[4];
      std::memcpy(value, &registers[lane][matrix], 4);
      const Address* matrix_rows = rows + 8 * matrix;
      if (transpose) {
        const Address* pair = matrix_rows + 2 * (lane % 4);
        const unsigned column_bytes = 2 * (lane / 4);
        visit(lane, matrix, pair[0] + column_bytes, &value[0], 2u);
        visit(lane, matrix, pair[1] + column_bytes, &value[2], 2u);
      } else {
        visit(lane, matrix, matrix_rows[lane / 4] + 4 * (lane % 4), &value[0], 4u);
      }
    }
  }
}

}  // namespace tw::vgpu
