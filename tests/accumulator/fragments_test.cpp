// Which thread holds which sum: over all threads, blocks and values, a tile's elements stand once
// each.
#include <gtest/gtest.h>

#include <vector>

#include "tilewright/accumulator/warp.h"
#include "tilewright/accumulator/wave.h"

namespace tw {
namespace {

// `groups_m` by `groups_n` warps or waves of `lanes`, side by side.
template <class Sums>
void each_element_once(unsigned lanes, unsigned groups_m, unsigned groups_n) {
  const unsigned rows = groups_m * Sums::blocks * Sums::block_rows;
  const unsigned columns = groups_n * Sums::columns;
  const unsigned values = Sums::block_rows * Sums::columns / lanes;
  std::vector<int> held(rows * columns);
  for (unsigned thread = 0; thread < groups_m * groups_n * lanes; ++thread) {
    for (unsigned block = 0; block < Sums::blocks; ++block) {
      for (unsigned i = 0; i < values; ++i) {
        const unsigned row = block * Sums::block_rows + Sums::row_of(thread, i);
        const unsigned column = Sums::column_of(thread, i);
        ASSERT_LT(row, rows);
        ASSERT_LT(column, columns);
        ++held[row * columns + column];
        if (i % 2 == 1) {
          EXPECT_EQ(Sums::row_of(thread, i), Sums::row_of(thread, i - 1));
          EXPECT_EQ(column, Sums::column_of(thread, i - 1) + 1) << "values 2 i and 2 i + 1";
        }
      }
    }
  }
  for (const int times : held) ASSERT_EQ(times, 1);
}

TEST(Fragments, WarpsHoldEachElementOnce) {
  each_element_once<WarpAccumulator<1, 8, 1, float>>(32, 1, 1);
  each_element_once<WarpAccumulator<2, 64, 2, float>>(32, 2, 2);
  each_element_once<WarpAccumulator<4, 32, 4, std::int32_t>>(32, 2, 4);
}

TEST(Fragments, WavesHoldEachElementOnce) {
  each_element_once<WaveAccumulator<1, 16, 1, float>>(64, 1, 1);
  each_element_once<WaveAccumulator<4, 64, 2, float>>(64, 2, 2);
  each_element_once<WaveAccumulator<2, 128, 4, float>>(64, 1, 4);
}

}  // namespace
}  // namespace tw
