#include "src/bench/grouped_case.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace tw::bench {
namespace {

// bench/grouped_torch.py makes the same: tests/bench/grouped_sizes.py compares them with these.
TEST(GroupedCase, MakesTheSameSizesAsEverywhere) {
  const GroupedCase few = {8, 8192, 4096, 4096};
  EXPECT_EQ(few.sizes(), (std::vector<std::int32_t>{687, 1186, 2011, 421, 421, 1241, 1642, 583}));
}

TEST(GroupedCase, SharesAllRowsInMixedSizes) {
  for (const GroupedCase& one : usual_grouped_cases()) {
    const auto sizes = one.sizes();
    EXPECT_EQ(static_cast<std::int64_t>(sizes.size()), one.groups);
    EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}), one.rows);
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    EXPECT_GE(*least, 0);
    EXPECT_GT(*most, 2 * *least) << one.text();
  }
  GroupedCase other = {8, 8192, 4096, 4096};
  const auto first = other.sizes();
  other.seed = 2;
  EXPECT_NE(other.sizes(), first);
}

TEST(GroupedCase, CountsTilesAndBytes) {
  GroupedCase one = {1, 300, 64, 32};
  EXPECT_EQ(one.tiles_needed(128), 1.0);
  EXPECT_EQ(one.flops(), 2.0 * 300 * 64 * 32);
  EXPECT_EQ(one.bytes(), 2.0 * (300 * 32 + 64 * 32 + 300 * 64));
  one.groups = 300;
  double tiles = 0, busy = 0;
  for (const std::int32_t size : one.sizes()) {
    tiles += (size + 127) / 128;
    busy += size > 0 ? 1 : 0;
  }
  EXPECT_EQ(one.tiles_needed(128), tiles / 3);
  EXPECT_EQ(one.bytes(), 2.0 * (300 * 32 + busy * 64 * 32 + 300 * 64));
}

}  // namespace
}  // namespace tw::bench
