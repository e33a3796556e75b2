// Attention whose keys are rows of products, on the virtual GPU: exact where the result is, within
// a bound elsewhere, clean on every schedule.
#include <gtest/gtest.h>

#include "tests/programs/attention_virtual.h"
#include "tests/vgpu/support.h"

namespace tw::programs {
namespace {

template <unsigned queries, unsigned key_count, unsigned columns, unsigned blocks = 2,
          Scheduling how = Scheduling::Dynamic>
struct Swapped {
  using Page = Sm90Attention;
  static constexpr AttentionConfig config = {.tiling = {.m = queries, .n = columns},
                                             .keys = key_count,
                                             .scheduling = how,
                                             .part_blocks = blocks,
                                             .swapped = 1};
};

// Keys that end before, at and behind the ends of blocks and parts; heads and queries that fill a
// tile, or leave columns of it to nobody.
std::vector<AttentionShape> few_queries(int columns) {
  return {
      {.columns = columns, .queries = {1}, .keys = {1}},
      {.heads = 4, .columns = columns, .queries = {1}, .keys = {300}},
      {.heads = 14, .key_heads = 2, .columns = columns, .queries = {1, 1}, .keys = {128, 128}},
      {.heads = 4,
       .key_heads = 2,
       .columns = columns,
       .queries = {3},
       .keys = {321},
       .causal = true},
      {.heads = 6,
       .key_heads = 2,
       .columns = columns,
       .queries = {11},
       .keys = {70},
       .causal = true},
      {.heads = 2,
       .columns = columns,
       .queries = {4},
       .keys = {600},
       .causal = true,
       .window = 200},
      // More queries than keys: the first see none.
      {.columns = columns, .queries = {5}, .keys = {2}, .causal = true},
      {.heads = 3, .columns = columns, .queries = {2}, .keys = {0}},
      // Heads that no smaller number divides: the last tile of a head of keys has fewer.
      {.heads = 11, .columns = columns, .queries = {1}, .keys = {300}},
      {.heads = 74, .key_heads = 2, .columns = columns, .queries = {1, 1}, .keys = {200, 200}},
      {.heads = 10, .key_heads = 2, .columns = columns, .queries = {3}, .keys = {90}},
  };
}

// Two CTAs share an SM.
struct OfTwo {
  using Page = Sm90Attention;
  static constexpr AttentionConfig config = {.tiling = {.m = 8, .n = 64},
                                             .scheduling = Scheduling::Dynamic,
                                             .part_blocks = 2,
                                             .swapped = 1,
                                             .residents = 2};
};

// Keys and values are e4m3 in memory. Stages are used again within a part.
template <unsigned key_count, unsigned ctas>
struct OfBytesBy {
  using Page = Sm90Attention;
  static constexpr AttentionConfig config = {.tiling = {.m = 8, .n = 128},
                                             .keys = key_count,
                                             .e4m3_keys = 1,
                                             .scheduling = Scheduling::Dynamic,
                                             .key_stages = 2,
                                             .value_stages = 2,
                                             .part_blocks = 4,
                                             .swapped = 1,
                                             .residents = ctas};
};
using OfBytes = OfBytesBy<128, 1>;
using OfBytesOfTwo = OfBytesBy<64, 2>;

template <class Named>
class SwappedTest : public ::testing::Test {};
using Configs = ::testing::Types<Swapped<8, 64, 64>, Swapped<16, 128, 128>, Swapped<32, 64, 256>,
                                 Swapped<8, 256, 64, 1, Scheduling::Static>, OfTwo>;
TYPED_TEST_SUITE(SwappedTest, Configs);

template <class Named>
void expect_exact(const AttentionShape& shape, const vgpu::Options& options,
                  const LaunchOrder& order = {}) {
  AttentionCase data(shape);
  data.fill_one_hot(options.seed);
  ASSERT_TRUE(test::clean(run_attention<Named>(data, options, order)))
      << data.q.rows << " x " << data.k.rows << ", seed " << options.seed;
  ASSERT_EQ(data.wrong_one_hot(), 0)
      << data.q.rows << " x " << data.k.rows << ", seed " << options.seed;
}

TYPED_TEST(SwappedTest, OneHotRowsAreExact) {
  for (const AttentionShape& shape : few_queries(TypeParam::config.tiling.n)) {
    expect_exact<TypeParam>(shape, {});
  }
}

TYPED_TEST(SwappedTest, RandomRowsAreWithinTheBound) {
  for (const AttentionShape& shape : few_queries(TypeParam::config.tiling.n)) {
    AttentionCase data(shape);
    data.fill_random(1);
    ASSERT_TRUE(test::clean(run_attention<TypeParam>(data, {})));
    EXPECT_LE(data.worst_error(), 1) << data.q.rows << " x " << data.k.rows;
  }
}

// What e4m3 has not is rounded to it first: digits of one-hot rows are, values have three bits.
AttentionCase case_of_bytes(const AttentionShape& shape, bool one_hot, std::uint64_t seed) {
  AttentionCase data(shape);
  if (one_hot) {
    data.fill_one_hot(seed);
  } else {
    data.fill_random(seed);
  }
  data.to_bytes();
  return data;
}
TEST(SwappedOfBytes, OneHotRowsAreExact) {
  for (const AttentionShape& shape : few_queries(128)) {
    AttentionCase data = case_of_bytes(shape, true, 1);
    ASSERT_TRUE(test::clean(run_attention<OfBytes>(data, {})));
    ASSERT_EQ(data.wrong_one_hot(), 0) << data.q.rows << " x " << data.k.rows;
  }
}
TEST(SwappedOfBytes, RandomRowsAreWithinTheBoundOfBf16) {
  for (const AttentionShape& shape : few_queries(128)) {
    AttentionCase data = case_of_bytes(shape, false, 1);
    ASSERT_TRUE(test::clean(run_attention<OfBytes>(data, {})));
    EXPECT_LE(data.worst_error(), 1) << data.q.rows << " x " << data.k.rows;
    AttentionCase again = case_of_bytes(shape, false, 1);
    ASSERT_TRUE(test::clean(run_attention<OfBytesOfTwo>(again, {})));
    EXPECT_LE(again.worst_error(), 1) << data.q.rows << " x " << data.k.rows;
  }
}
TEST(SwappedOfBytes, IsExactAndCleanOnSchedules) {
  for (const vgpu::Landing landing : test::every_landing) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      vgpu::Options options;
      options.landing = landing;
      options.seed = seed;
      AttentionCase data = case_of_bytes({.heads = 3,
                                          .columns = 128,
                                          .queries = {2},
                                          .keys = {600 + 20 * static_cast<int>(seed)},
                                          .causal = seed % 2 == 0},
                                         true, seed);
      ASSERT_TRUE(test::clean(run_attention<OfBytes>(data, options)));
      ASSERT_EQ(data.wrong_one_hot(), 0) << "seed " << seed;
    }
  }
}

TYPED_TEST(SwappedTest, AnyCutOfKeysIsExact) {
  for (const int parts : {1, 2, 3, 7}) {
    expect_exact<TypeParam>({.heads = 8,
                             .key_heads = 2,
                             .columns = TypeParam::config.tiling.n,
                             .queries = {1, 1},
                             .keys = {777, 777},
                             .causal = true},
                            {}, {.split_k = parts, .stream_k = parts == 1});
  }
}

TEST(Swapped, IsExactAndCleanOn200Schedules) {
  for (const vgpu::Landing landing : test::every_landing) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      vgpu::Options options;
      options.landing = landing;
      options.seed = seed;
      const int more = static_cast<int>(seed);
      expect_exact<Swapped<8, 64, 64>>(
          {.heads = 3, .queries = {2}, .keys = {200 + more}, .causal = seed % 2 == 0}, options);
    }
  }
}

}  // namespace
}  // namespace tw::programs
