// Where the pairs of sums that a thread works on together stand in the output.
#pragma once

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/epilogue/fragment.h"
#include "tilewright/isa/threads.h"

namespace tw {

template <class Sums, unsigned columns, bool is_transposed>
struct GroupPlace {
  using OfSums = Sums;
  static constexpr FragmentLayout layout = Sums::layout;
  static constexpr bool transposed = is_transposed;
  const TileOrigin& chunk;
  int column;  // where the group begins in its chunk
  int n;       // columns of the output
  unsigned thread;

  TW_DEVICE FragmentPlace<2> operator()(unsigned pair) const {
    unsigned row = thread;
    unsigned step = 2 * pair;
    if constexpr (Sums::layout == FragmentLayout::Matrix) {
      row = Sums::row_of(thread, 2 * pair);
      step = Sums::column_of(thread, 2 * pair);
    }
    return {chunk.batch, chunk.row + static_cast<int>(row),
            chunk.column + column + static_cast<int>(step), transposed ? n : chunk.m_end,
            transposed ? chunk.m_end : n};
  }
  // True where no pair of the warp reaches over the last column.
  TW_DEVICE bool columns_inside() const {
    const unsigned first_lane = thread / isa::warp_lanes() * isa::warp_lanes();
    int end = chunk.column + column + static_cast<int>(columns);
    if constexpr (Sums::layout == FragmentLayout::Matrix) {
      end += static_cast<int>(Sums::column_of(first_lane, 0));
    }
    return end <= (transposed ? chunk.m_end : n);
  }
};

}  // namespace tw
