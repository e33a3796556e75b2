#include "src/families/grouped.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "src/bench/harness/forms.h"

namespace tw::bench {

extern const ShapeForm grouped_form;

namespace {

// bench/grouped_torch.py makes the same: tests/bench/grouped_sizes.py compares them with these.
TEST(GroupedCase, MakesTheSameSizesAsEverywhere) {
  EXPECT_EQ(group_sizes(8, 8192, 1),
            (std::vector<std::int32_t>{687, 1186, 2011, 421, 421, 1241, 1642, 583}));
}

TEST(GroupedCase, SharesAllRowsInMixedSizes) {
  for (const char* text : grouped_form.usual) {
    std::vector<std::int64_t> numbers;
    ASSERT_TRUE(read_shape(numbers, grouped_form, text).is_good());
    const auto sizes = group_sizes(numbers[0], numbers[1], 1);
    EXPECT_EQ(static_cast<std::int64_t>(sizes.size()), numbers[0]);
    EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}), numbers[1]);
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    EXPECT_GE(*least, 0);
    EXPECT_GT(*most, 2 * *least) << text;
  }
  EXPECT_NE(group_sizes(8, 8192, 2), group_sizes(8, 8192, 1));
}

TEST(GroupedCase, CountsTilesAndBytes) {
  EXPECT_EQ(tiles_needed(group_sizes(1, 300, 1), 128), 1.0);
  const std::vector<std::int32_t> sizes = group_sizes(300, 300, 1);
  double tiles = 0, busy = 0;
  for (const std::int32_t size : sizes) {
    tiles += (size + 127) / 128;
    busy += size > 0 ? 1 : 0;
  }
  EXPECT_EQ(tiles_needed(sizes, 128), tiles / 3);
  MeasuredCase made;
  ASSERT_TRUE(make_case(made, grouped_form, {300, 300, 64, 32}, ElementType::Bf16, {}).is_good());
  EXPECT_EQ(made.shape.flops, 2.0 * 300 * 64 * 32);
  EXPECT_EQ(made.shape.bytes, 2.0 * (300 * 32 + busy * 64 * 32 + 300 * 64));
  EXPECT_EQ(made.integers.back(), 300);
  EXPECT_EQ(made.shape.numbers.front(), (std::pair<std::string, std::int64_t>("seed", 1)));
}

}  // namespace
}  // namespace tw::bench
