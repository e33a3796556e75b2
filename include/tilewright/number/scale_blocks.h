// Block scales in memory as the tensor core takes them: blocks of 128 rows by four scales of a row,
// 512 bytes each; the blocks of one 128 rows follow each other along k, then come the next rows.
// Rows are filled up to a multiple of 128, scales of a row to a multiple of four.
#pragma once

#include <cstdint>
#include <cstring>

#include "tilewright/number/scale_type.h"

namespace tw {

struct ScaleBlock {
  static constexpr unsigned rows = 128;
  static constexpr unsigned scales = 4;  // per row
  static constexpr unsigned bytes = rows * scales;
};

// How many scales there are, and how many blocks they take.
struct ScaleExtent {
  std::int64_t rows;
  std::int64_t scales;  // per row

  static constexpr ScaleExtent of(std::int64_t rows, std::int64_t k, ScaleType type) {
    const std::int64_t block = block_of(type);
    return {rows, (k + block - 1) / block};
  }
  constexpr std::int64_t row_blocks() const {
    return (rows + ScaleBlock::rows - 1) / ScaleBlock::rows;
  }
  constexpr std::int64_t k_blocks() const {
    return (scales + ScaleBlock::scales - 1) / ScaleBlock::scales;
  }
  constexpr std::int64_t bytes() const { return row_blocks() * k_blocks() * ScaleBlock::bytes; }

  // The byte of one scale.
  constexpr std::int64_t place(std::int64_t row, std::int64_t scale) const {
    const std::int64_t block = row / ScaleBlock::rows * k_blocks() + scale / ScaleBlock::scales;
    return block * ScaleBlock::bytes + row % 32 * 16 + row % ScaleBlock::rows / 32 * 4 +
           scale % ScaleBlock::scales;
  }
};

// From rows of scales that lie `pitch` bytes apart. What fills up is zero: no NaN of either type.
inline void pack_scales(std::uint8_t* blocks, const std::uint8_t* rows, std::int64_t pitch,
                        const ScaleExtent& extent) {
  std::memset(blocks, 0, static_cast<std::size_t>(extent.bytes()));
  for (std::int64_t row = 0; row < extent.rows; ++row) {
    for (std::int64_t scale = 0; scale < extent.scales; ++scale) {
      blocks[extent.place(row, scale)] = rows[row * pitch + scale];
    }
  }
}
inline void unpack_scales(std::uint8_t* rows, std::int64_t pitch, const std::uint8_t* blocks,
                          const ScaleExtent& extent) {
  for (std::int64_t row = 0; row < extent.rows; ++row) {
    for (std::int64_t scale = 0; scale < extent.scales; ++scale) {
      rows[row * pitch + scale] = blocks[extent.place(row, scale)];
    }
  }
}

}  // namespace tw
