// Products of rows that lanes hold as LaneRows reads them, by mma.sync. A product's k is 16, of
// which a lane has two pairs: it takes any two of its own, for the lanes of both operands hold the
// same elements of k.
#pragma once

#include "tilewright/family/matmul/lane_rows.h"
#include "tilewright/isa/ptx/warp_matrix.h"
#include "tilewright/number/element_type.h"

namespace tw {

// 16 * row_blocks rows by 8 * column_blocks; the rows' operand has two rows in each lane for a
// block, the columns' one.
template <ElementType type, unsigned row_blocks, unsigned column_blocks>
class RowProducts {
  static_assert(type == ElementType::Bf16 || type == ElementType::Fp16);
  static constexpr MmaType mma = type == ElementType::Bf16 ? MmaType::Bf16 : MmaType::F16;

 public:
  // 32 of k: a piece of eight elements from each lane and row.
  template <unsigned pieces>
  TW_DEVICE void add(const FetchedRows<2 * row_blocks, pieces>& rows, unsigned piece,
                     const FetchedRows<column_blocks, 1>& columns) {
    std::uint32_t row[2 * row_blocks][4];
    TW_UNROLL
    for (unsigned i = 0; i < 2 * row_blocks; ++i) rows.of[i][piece].get(row[i]);
    TW_UNROLL
    for (unsigned column = 0; column < column_blocks; ++column) {
      std::uint32_t pairs[4];
      columns.of[column][0].get(pairs);
      TW_UNROLL
      for (unsigned pair = 0; pair < 4; pair += 2) {
        const std::uint32_t b[2] = {pairs[pair], pairs[pair + 1]};
        TW_UNROLL
        for (unsigned block = 0; block < row_blocks; ++block) {
          const std::uint32_t a[4] = {row[2 * block][pair], row[2 * block + 1][pair],
                                      row[2 * block][pair + 1], row[2 * block + 1][pair + 1]};
          isa::mma_sync<mma>(sums_[block][column], a, b);
        }
      }
    }
  }

  // Calls take(row, column, sum) for the sums of a lane.
  template <class Take>
  TW_DEVICE void each(unsigned lane, const Take& take) const {
    TW_UNROLL
    for (unsigned block = 0; block < row_blocks; ++block) {
      TW_UNROLL
      for (unsigned column = 0; column < column_blocks; ++column) {
        TW_UNROLL
        for (unsigned i = 0; i < 4; ++i) {
          take(16 * block + lane / 4 + 8 * (i / 2), 8 * column + lane % 4 * 2 + i % 2,
               sums_[block][column][i]);
        }
      }
    }
  }

 private:
  float sums_[row_blocks][column_blocks][4] = {};
};

}  // namespace tw
