// Sums with known values in both layouts.
#pragma once

#include <vector>

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/epilogue/fragment.h"

namespace tw::tests {

// The sums of a whole problem, (batch, row, column). Outside there are values that would show.
template <class Value>
struct KnownSums {
  const std::vector<double>& values;
  int m;
  int n;
  TileOrigin place;  // where the tile begins

  Value at(unsigned row, unsigned column) const {
    const int to_row = place.row + static_cast<int>(row);
    const int to_column = place.column + static_cast<int>(column);
    if (to_row >= place.m_end || to_column >= n) return static_cast<Value>(1 << 30);
    const std::size_t index = (static_cast<std::size_t>(place.batch) * m + to_row) * n + to_column;
    return static_cast<Value>(values[index]);
  }
};

// The layout that wgmma leaves. With several warps_n (mma.sync) each warp has columns of its own.
template <unsigned num_blocks, unsigned n, unsigned warps_n, class Number>
struct MatrixStandIn {
  using Value = Number;
  static constexpr FragmentLayout layout = FragmentLayout::Matrix;
  static constexpr unsigned blocks = num_blocks;
  static constexpr unsigned block_rows = warps_n == 1 ? 64 : 16;
  static constexpr unsigned columns = n;
  static constexpr int tile_rows = warps_n == 1 ? 64 * blocks : 16 * blocks * (4 / warps_n);
  static constexpr int tile_columns = static_cast<int>(n * warps_n);

  KnownSums<Value> sums;
  unsigned thread;

  Value value(unsigned block, unsigned i) const {
    return sums.at(block_rows * block + row_of(thread, i), column_of(thread, i));
  }
  static constexpr unsigned row_of(unsigned thread, unsigned i) {
    const unsigned warp = thread / 32;
    const unsigned warp_row = warps_n == 1 ? 16 * warp : warp / warps_n * (16 * blocks);
    return warp_row + thread % 32 / 4 + 8 * (i / 2 % 2);
  }
  static constexpr unsigned column_of(unsigned thread, unsigned i) {
    return thread / 32 % warps_n * n + 2 * (thread % 4) + i % 2 + 8 * (i / 4);
  }
};
static_assert(FragmentSums<MatrixStandIn<2, 128, 1, float>>);

// The layout that tcgen05.ld reads.
template <unsigned n, class Number>
struct RowStandIn {
  using Value = Number;
  static constexpr FragmentLayout layout = FragmentLayout::Row;
  static constexpr unsigned blocks = 1;
  static constexpr unsigned block_rows = 128;
  static constexpr unsigned columns = n;
  static constexpr int tile_rows = 128;
  static constexpr int tile_columns = static_cast<int>(n);

  KnownSums<Value> sums;
  unsigned thread;

  void load(int first_column, Value (&values)[32]) const {
    for (unsigned i = 0; i < 32; ++i) {
      values[i] = sums.at(thread, static_cast<unsigned>(first_column) + i);
    }
  }
};
static_assert(FragmentSums<RowStandIn<128, std::int32_t>>);

}  // namespace tw::tests
