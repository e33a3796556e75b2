// Attention whose values are columns of its keys, on the virtual GPU: exact where the result is,
// within a bound elsewhere, clean on every schedule.
#include <gtest/gtest.h>

#include "tests/programs/attention_virtual.h"
#include "tests/vgpu/support.h"

namespace tw::programs {
namespace {

template <unsigned queries, unsigned head_columns, unsigned value_columns, unsigned blocks = 2,
          Scheduling how = Scheduling::Dynamic>
struct Latent {
  using Page = Sm90Attention;
  static constexpr AttentionConfig config = {.tiling = {.m = queries, .n = value_columns},
                                             .keys = 64,
                                             .head = head_columns,
                                             .scheduling = how,
                                             .part_blocks = blocks,
                                             .swapped = 1,
                                             .values_in_keys = 1,
                                             .key_slices = 3};
};

// Keys that end before, at and behind the ends of blocks and parts; heads and queries that fill a
// tile, or leave columns of it to nobody.
template <class Named>
std::vector<AttentionShape> few_queries() {
  std::vector<AttentionShape> shapes = {
      {.queries = {1}, .keys = {1}},
      {.heads = 4, .queries = {1}, .keys = {300}},
      {.heads = 14, .key_heads = 2, .queries = {1, 1}, .keys = {128, 128}},
      {.heads = 4, .key_heads = 2, .queries = {3}, .keys = {321}, .causal = true},
      {.heads = 6, .key_heads = 2, .queries = {11}, .keys = {70}, .causal = true},
      {.heads = 2, .queries = {4}, .keys = {600}, .causal = true, .window = 200},
      // More queries than keys: the first see none.
      {.queries = {5}, .keys = {2}, .causal = true},
      {.heads = 3, .queries = {2}, .keys = {0}},
      // A tile of 64 queries has two groups.
      {.heads = 45, .queries = {1}, .keys = {100}},
      {.queries = {50}, .keys = {70}, .causal = true},
  };
  for (AttentionShape& shape : shapes) {
    shape.columns = Named::config.head_columns();
    shape.value_columns = Named::config.tiling.n;
  }
  return shapes;
}

template <class Named>
class LatentTest : public ::testing::Test {};
using Configs = ::testing::Types<Latent<16, 576, 512>, Latent<8, 192, 128>,
                                 Latent<64, 192, 192, 1, Scheduling::Static>>;
TYPED_TEST_SUITE(LatentTest, Configs);

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

TYPED_TEST(LatentTest, OneHotRowsAreExact) {
  for (const AttentionShape& shape : few_queries<TypeParam>()) expect_exact<TypeParam>(shape, {});
}

TYPED_TEST(LatentTest, RandomRowsAreWithinTheBound) {
  for (const AttentionShape& shape : few_queries<TypeParam>()) {
    AttentionCase data(shape);
    data.fill_random(1);
    ASSERT_TRUE(test::clean(run_attention<TypeParam>(data, {})));
    EXPECT_LE(data.worst_error(), 1) << data.q.rows << " x " << data.k.rows;
  }
}

TYPED_TEST(LatentTest, AnyCutOfKeysIsExact) {
  for (const int parts : {1, 2, 7}) {
    expect_exact<TypeParam>({.heads = 8,
                             .key_heads = 2,
                             .columns = TypeParam::config.head_columns(),
                             .value_columns = TypeParam::config.tiling.n,
                             .queries = {1, 1},
                             .keys = {487, 487},
                             .causal = true},
                            {}, {.split_k = parts, .stream_k = parts == 1});
  }
}

TEST(Latent, IsExactAndCleanOn200Schedules) {
  for (const vgpu::Landing landing : test::every_landing) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      vgpu::Options options;
      options.landing = landing;
      options.seed = seed;
      AttentionShape shape = {.heads = 3,
                              .columns = 192,
                              .value_columns = 128,
                              .queries = {2},
                              .keys = {200 + static_cast<int>(seed)},
                              .causal = seed % 4 < 2};
      if (seed % 5 > 0) {
        expect_exact<Latent<8, 192, 128>>(shape, options);
      } else {
        shape.heads = 17;
        expect_exact<Latent<64, 192, 128>>(shape, options);
      }
    }
  }
}

}  // namespace
}  // namespace tw::programs
