// Sums in the registers of waves of 64 lanes: blocks of 32 rows by `columns`, each wave at its
// place in a grid of waves over the CTA's tile, `waves_n` wide.
#pragma once

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/base/annotate.h"

namespace tw {

// A block is two rows of 16 by 16 products. mfma leaves four neighbours of a column in a lane; the
// operands are exchanged, so that they are neighbours of a row: lane l has row l % 16 of a product,
// columns 4 (l / 16) to 4 (l / 16) + 3.
template <unsigned block_count, unsigned n, unsigned waves_n, class SumValue>
class WaveAccumulator {
 public:
  using Value = SumValue;
  static constexpr FragmentLayout layout = FragmentLayout::Matrix;
  static constexpr unsigned blocks = block_count;
  static constexpr unsigned block_rows = 32;
  static constexpr unsigned columns = n;
  static constexpr unsigned lanes = 64;

  WaveAccumulator() = default;
  WaveAccumulator(const WaveAccumulator&) = delete;

  // Only a TileOp asks for the registers themselves: of the product at 16 row, 16 column.
  TW_DEVICE Value (&fragment(unsigned row, unsigned column))[4] {
    return values_[row / 2][column][row % 2];
  }
  TW_DEVICE bool started() const { return started_ != 0; }
  TW_DEVICE void clear() {
    each([](Value& value) { value = Value{}; });
    started_ = 1;
  }
  TW_DEVICE void scale(Value factor) {
    each([&](Value& value) { value *= factor; });
  }

  // Value i of this thread in a block stands at row_of(i), column_of(i) from the block's place.
  TW_DEVICE Value value(unsigned block, unsigned i) const {
    return values_[block][i / 8][i / 4 % 2][i % 4];
  }
  static constexpr unsigned row_of(unsigned thread, unsigned i) {
    return thread / lanes / waves_n * (blocks * block_rows) + thread % 16 + 16 * (i / 4 % 2);
  }
  static constexpr unsigned column_of(unsigned thread, unsigned i) {
    return thread / lanes % waves_n * columns + 4 * (thread % lanes / 16) + i % 4 + 16 * (i / 8);
  }

 private:
  template <class Body>
  TW_DEVICE void each(const Body& body) {
    TW_UNROLL
    for (unsigned row = 0; row < 2 * blocks; ++row) {
      TW_UNROLL
      for (unsigned column = 0; column < n / 16; ++column) {
        TW_UNROLL
        for (unsigned i = 0; i < 4; ++i) body(fragment(row, column)[i]);
      }
    }
  }

  Value values_[blocks][n / 16][2][4];
  unsigned started_ = 0;
};

}  // namespace tw
