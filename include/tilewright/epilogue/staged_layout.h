// How a chunk of the output, or of C, lies in shared memory between threads and TMA.
#pragma once

#include "tilewright/layout/algebra.h"

namespace tw {

// (row,column), in elements: rows of 128 (or 64) bytes with the swizzle of so many: 16-byte pieces
// of a row change places by the row.
constexpr Layout staged_layout(unsigned rows, unsigned element_bytes, unsigned row_bytes) {
  const int piece_bits = element_bytes == 1 ? 4 : element_bytes == 2 ? 3 : 2;
  return with_swizzle(row_major(rows, row_bytes / element_bytes),
                      Swizzle{row_bytes == 128 ? 3 : 2, piece_bits, 3});
}

}  // namespace tw
