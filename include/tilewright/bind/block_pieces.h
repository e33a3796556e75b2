// How streams of the block-scaled formats share out a matrix: a CTA takes tiles of 128 rows and 128
// columns, whose scales are whole blocks; eight neighbouring threads have a row of it, 16 elements
// each, which share a scale.
#pragma once

#include "tilewright/kernel/contracts.h"
#include "tilewright/number/scale_blocks.h"

namespace tw {

struct BlockPieces : UsualStream {
  static constexpr unsigned threads = 256, least_ctas = 1;
  static constexpr unsigned columns = 128;
  static constexpr unsigned length = 16;  // elements in a thread's piece of a row
  static constexpr unsigned row_threads = columns / length;
  static constexpr unsigned rows_at_once = threads / row_threads;
  static constexpr unsigned tile_rows = ScaleBlock::rows;
  static constexpr unsigned pieces = tile_rows / rows_at_once;

  struct Storage {};

  static constexpr std::int64_t column_tiles(std::int64_t k) { return (k + columns - 1) / columns; }
  static constexpr std::int64_t tiles(const ScaleExtent& extent, std::int64_t k) {
    return extent.row_blocks() * column_tiles(k);
  }

  // A piece of a line of elements, packed.
  template <unsigned bits>
  struct alignas(length* bits % 64 == 0 ? length * bits / 8 : 4) Packed {
    static constexpr unsigned bytes = length * bits / 8;
    std::uint32_t words[bytes / 4];
  };
};

}  // namespace tw
