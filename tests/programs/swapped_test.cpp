// Attention whose keys are rows of products, on the virtual GPU: exact where the result is, within
// a bound elsewhere, clean on every schedule.
#include "tests/programs/few_queries.h"

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

TYPED_TEST(SwappedTest, OneHotRowsAreExact) {
  for (const AttentionShape& shape : few_queries(TypeParam::config.tiling.n)) {
    expect_exact<TypeParam>(shape, {});
  }
}

TYPED_TEST(SwappedTest, RandomRowsAreWithinTheBound) {
  for (const AttentionShape& shape : few_queries(TypeParam::config.tiling.n)) {
    expect_within_bound<TypeParam>(shape);
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
  for (const vgpu::Options& options : schedules(10)) {
    const std::uint64_t seed = options.seed;
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
  for (const vgpu::Options& options : schedules(50)) {
    const std::uint64_t seed = options.seed;
    const int more = static_cast<int>(seed);
    expect_exact<Swapped<8, 64, 64>>(
        {.heads = 3, .queries = {2}, .keys = {200 + more}, .causal = seed % 2 == 0}, options);
  }
}

}  // namespace
}  // namespace tw::programs
