// Sums in the registers of single warps: blocks of 16 rows by `columns`, each warp at its place in
// a grid of warps over the CTA's tile, `warps_n` wide.
#pragma once

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/base/annotate.h"

namespace tw {

template <unsigned block_count, unsigned n, unsigned warps_n, class SumValue>
class WarpAccumulator {
 public:
  using Value = SumValue;
  static constexpr FragmentLayout layout = FragmentLayout::Matrix;
  static constexpr unsigned blocks = block_count;
  static constexpr unsigned block_rows = 16;
  static constexpr unsigned columns = n;
  static constexpr unsigned fragment_size = n / 2;

  WarpAccumulator() = default;
  WarpAccumulator(const WarpAccumulator&) = delete;

  // Only a TileOp asks for the registers themselves: of one 16 by 8 product.
  TW_DEVICE Value (&fragment(unsigned block, unsigned product))[4] {
    return values_[block][product];
  }
  TW_DEVICE bool started() const { return started_ != 0; }
  TW_DEVICE void start_over() { started_ = 0; }
  TW_DEVICE void clear() {
    TW_UNROLL
    for (unsigned block = 0; block < blocks; ++block) {
      TW_UNROLL
      for (unsigned i = 0; i < fragment_size; ++i) values_[block][i / 4][i % 4] = Value{};
    }
    started_ = 1;
  }

  // Adds the sums of a piece that begins at block `first` and column `column`, each value times
  // factor(block, i).
  template <class Piece, class Factor>
  TW_DEVICE void add(unsigned first, unsigned column, const Piece& piece, const Factor& factor) {
    TW_UNROLL
    for (unsigned block = 0; block < Piece::blocks; ++block) {
      TW_UNROLL
      for (unsigned i = 0; i < Piece::fragment_size; ++i) {
        values_[first + block][column / 8 + i / 4][i % 4] +=
            piece.value(block, i) * factor(block, i);
      }
    }
  }

  // Value i of this thread in a block stands at row_of(i), column_of(i) from the block's place.
  TW_DEVICE Value value(unsigned block, unsigned i) const { return values_[block][i / 4][i % 4]; }
  static constexpr unsigned row_of(unsigned thread, unsigned i) {
    return thread / 32 / warps_n * (blocks * block_rows) + thread % 32 / 4 + 8 * (i / 2 % 2);
  }
  static constexpr unsigned column_of(unsigned thread, unsigned i) {
    return thread / 32 % warps_n * columns + 2 * (thread % 4) + i % 2 + 8 * (i / 4);
  }

 private:
  Value values_[blocks][n / 8][4];
  unsigned started_ = 0;
};

}  // namespace tw
