// Attention whose values are columns of its keys, on the virtual GPU: exact where the result is,
// within a bound elsewhere, clean on every schedule.
#include "tests/programs/few_queries.h"

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

// Keys are e4m3 in memory, and slices have 128 columns, the last perhaps 64 of them. Stages are
// used again from one block to the next, those of bytes within a block.
template <unsigned queries, unsigned head_columns, unsigned value_columns, unsigned slices,
          unsigned blocks = 2, Scheduling how = Scheduling::Dynamic>
struct LatentBytes {
  using Page = Sm90Attention;
  static constexpr AttentionConfig config = {.tiling = {.m = queries, .n = value_columns},
                                             .keys = 64,
                                             .head = head_columns,
                                             .e4m3_keys = 1,
                                             .scheduling = how,
                                             .key_stages = slices + 1,
                                             .value_stages = slices - 1,
                                             .part_blocks = blocks,
                                             .swapped = 1,
                                             .values_in_keys = 1,
                                             .key_slices = slices};
};

// A tile of 64 queries has two groups.
template <class Named>
std::vector<AttentionShape> shapes_of() {
  constexpr int columns = Named::config.head_columns(), value_columns = Named::config.tiling.n;
  std::vector<AttentionShape> shapes = few_queries(columns, value_columns);
  shapes.push_back({.heads = 45,
                    .columns = columns,
                    .value_columns = value_columns,
                    .queries = {1},
                    .keys = {100}});
  shapes.push_back({.columns = columns,
                    .value_columns = value_columns,
                    .queries = {50},
                    .keys = {70},
                    .causal = true});
  return shapes;
}

template <class Named>
class LatentTest : public ::testing::Test {};
using Configs = ::testing::Types<Latent<16, 576, 512>, Latent<8, 192, 128>,
                                 Latent<64, 192, 192, 1, Scheduling::Static>,
                                 LatentBytes<16, 576, 512, 5>, LatentBytes<8, 192, 128, 2>,
                                 LatentBytes<64, 192, 192, 2, 1, Scheduling::Static>>;
TYPED_TEST_SUITE(LatentTest, Configs);

TYPED_TEST(LatentTest, OneHotRowsAreExact) {
  for (const AttentionShape& shape : shapes_of<TypeParam>()) expect_exact<TypeParam>(shape, {});
}

TYPED_TEST(LatentTest, RandomRowsAreWithinTheBound) {
  for (const AttentionShape& shape : shapes_of<TypeParam>()) expect_within_bound<TypeParam>(shape);
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
  for (const vgpu::Options& options : schedules(50)) {
    const std::uint64_t seed = options.seed;
    AttentionShape shape = {.heads = 3,
                            .columns = 192,
                            .value_columns = 128,
                            .queries = {2},
                            .keys = {200 + static_cast<int>(seed)},
                            .causal = seed % 4 < 2};
    if (seed % 5 > 1) {
      expect_exact<Latent<8, 192, 128>>(shape, options);
    } else if (seed % 5 == 1) {
      expect_exact<LatentBytes<8, 192, 128, 2>>(shape, options);
    } else {
      shape.heads = 17;
      expect_exact<Latent<64, 192, 128>>(shape, options);
    }
  }
}

}  // namespace
}  // namespace tw::programs
