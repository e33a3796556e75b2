// How a chunk of the output, or of C, lies in shared memory between threads and TMA.
#pragma once

#include "tilewright/layout/layout.h"

namespace tw {

// (line,element): lines of 128 (or 64) bytes with the swizzle of so many: 16-byte pieces of a line
// change places by the line. A line is of a row of D.
constexpr Layout staged_layout(unsigned lines, unsigned element_bytes, unsigned line_bytes) {
  const int piece_bits = element_bytes == 1 ? 4 : element_bytes == 2 ? 3 : 2;
  return with_swizzle(row_major(lines, line_bytes / element_bytes),
                      Swizzle{line_bytes == 128 ? 3 : 2, piece_bits, 3});
}

}  // namespace tw
