// Attention whose parts of keys are joined by the CTAs of a cluster, on the virtual GPU: exact
// where the result is, within a bound elsewhere, clean on every schedule.
#include "tests/programs/few_queries.h"

namespace tw::programs {
namespace {

template <unsigned queries, unsigned columns, unsigned ctas>
struct InCluster {
  using Page = Sm90Attention;
  static constexpr AttentionConfig config = {.tiling = {.m = queries, .n = columns},
                                             .keys = 64,
                                             .part_blocks = 3,
                                             .swapped = 1,
                                             .residents = ctas,
                                             .parts_in_cluster = 1};
};

template <class Named>
class ClustersTest : public ::testing::Test {};
using Configs = ::testing::Types<InCluster<8, 128, 2>, InCluster<8, 64, 3>, InCluster<32, 64, 2>>;
TYPED_TEST_SUITE(ClustersTest, Configs);

TYPED_TEST(ClustersTest, OneHotRowsAreExact) {
  for (const AttentionShape& shape : few_queries(TypeParam::config.tiling.n)) {
    expect_exact<TypeParam>(shape, {});
  }
}

TYPED_TEST(ClustersTest, RandomRowsAreWithinTheBound) {
  for (const AttentionShape& shape : few_queries(TypeParam::config.tiling.n)) {
    expect_within_bound<TypeParam>(shape);
  }
}

TYPED_TEST(ClustersTest, AnyCutOfKeysIsExact) {
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

// A cluster of four, whose last CTA has no keys, and of eight: four of its CTAs get no share of the
// sums.
TEST(Clusters, AreExactAndCleanOn200Schedules) {
  using Kernel = InCluster<8, 64, 2>;
  static_assert(kernel::ClusterHeads<ElementType::Bf16, 64, 8>::Exchanged::units == 4);
  for (const vgpu::Options& options : schedules(50)) {
    const std::uint64_t seed = options.seed;
    const bool is_four = seed % 2 != 0;
    const int keys = (is_four ? 140 : 450) + static_cast<int>(seed);
    const AttentionShape shape = {
        .heads = 3, .queries = {2}, .keys = {keys}, .causal = seed % 4 < 2};
    const LaunchOrder order = {.split_k = is_four ? 3 : 8};
    AttentionCase data(shape);
    ASSERT_EQ(attention_parts(data.problem(), Kernel::config, order).parts, is_four ? 4 : 8);
    expect_exact<Kernel>(shape, options, order);
  }
}

TEST(Clusters, RefuseMorePartsThanACluster) {
  AttentionCase data({.queries = {1}, .keys = {600}});
  const vgpu::Report report = run_attention<InCluster<8, 64, 2>>(data, {}, {.split_k = 10});
  ASSERT_EQ(report.incomplete.size(), 1u);
  EXPECT_EQ(report.incomplete[0],
            "Keys are cut into 16 parts; this kernel joins up to 8, the CTAs of a cluster: give "
            "split_k of up to 8.");
}

// The nearest kernel is the one with the fewest obstacles: parts are one beside heads that are too
// wide.
TEST(Clusters, CountPartsAmongObstacles) {
  using Kernel = Attention<Sm90Attention, InCluster<8, 64, 2>>;
  AttentionCase data({.columns = 128, .queries = {1}, .keys = {600}});
  const auto obstacles = [&](int parts) {
    kernel::WarpSpecialized<Kernel>::Params params;
    MatmulGrid grid = {};
    return plan_attention<Kernel>(params, grid, data.problem(), 3, {}, encode_for_virtual,
                                  {.split_k = parts})
        .obstacles();
  };
  EXPECT_EQ(obstacles(8), 1u);
  EXPECT_EQ(obstacles(10), 2u);
}

}  // namespace
}  // namespace tw::programs
