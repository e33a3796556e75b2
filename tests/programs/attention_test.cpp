// Attention on the virtual GPU: exact where the result is, within a bound elsewhere, clean on every
// schedule.
#include <gtest/gtest.h>

#include "tests/programs/attention_virtual.h"
#include "tests/vgpu/support.h"

namespace tw::programs {
namespace {

using Small = AttentionTile<128, 64, 64>;

template <class Named>
void expect_exact(const AttentionShape& shape, const vgpu::Options& options) {
  AttentionCase data(shape);
  data.fill_one_hot(options.seed);
  ASSERT_TRUE(test::clean(run_attention<Named>(data, options)))
      << data.q.rows << " x " << data.k.rows << ", seed " << options.seed;
  ASSERT_EQ(data.wrong_one_hot(), 0)
      << data.q.rows << " x " << data.k.rows << ", seed " << options.seed;
}

template <class Named>
class AttentionTest : public ::testing::Test {};
// One, two and three warpgroups; blocks of keys that are shorter than, as long as and longer than
// the tile; work that is counted, or asked for.
using Configs = ::testing::Types<Small, AttentionTile<128, 128, 128>,
                                 AttentionTile<64, 176, 128, 64>, AttentionTile<192, 80, 64>,
                                 AttentionTile<128, 64, 64, 128, Scheduling::Dynamic>,
                                 AttentionTile80<128, 64, 64>, AttentionTile80<64, 48, 128>>;
TYPED_TEST_SUITE(AttentionTest, Configs);

TYPED_TEST(AttentionTest, OneHotRowsAreExact) {
  for (const AttentionShape& shape : attention_shapes<TypeParam>()) {
    expect_exact<TypeParam>(shape, {});
  }
}

TYPED_TEST(AttentionTest, RandomRowsAreWithinTheBound) {
  for (const AttentionShape& shape : attention_shapes<TypeParam>()) {
    AttentionCase data(shape);
    data.fill_random(1);
    ASSERT_TRUE(test::clean(run_attention<TypeParam>(data, {})));
    EXPECT_LE(data.worst_error(), 1) << data.q.rows << " x " << data.k.rows;
  }
}

template <class Named>
void expect_clean_schedules(std::uint64_t of_each_landing) {
  for (const vgpu::Landing landing : test::every_landing) {
    for (std::uint64_t seed = 1; seed <= of_each_landing; ++seed) {
      vgpu::Options options;
      options.landing = landing;
      options.seed = seed;
      const int more = static_cast<int>(seed);
      AttentionShape shape;
      shape.heads = 2;
      shape.causal = seed % 2 == 0;
      shape.queries = {130, 20 + more};
      shape.keys = {150 + more, 64};
      shape.ragged = true;
      expect_exact<Named>(shape, options);
    }
  }
}
TEST(Attention, IsExactAndCleanOn200Schedules) { expect_clean_schedules<Small>(50); }
TEST(Attention, IsExactAndCleanOnSchedulesByThreads) {
  expect_clean_schedules<AttentionTile80<128, 64, 64>>(3);
}

// Other orders of a step.
template <AttentionPlan of_a_step, unsigned stages = 0>
struct Planned {
  using Page = Sm90Attention;
  static constexpr AttentionConfig config = {
      .tiling = {.m = 128, .n = 64}, .keys = 64, .key_stages = stages, .plan = of_a_step};
};
constexpr unsigned depth_of_scores(const AttentionPlan& plan) {
  return plan.depth(Act::AwaitScores);
}
constexpr unsigned depth_of_sums(const AttentionPlan& plan) { return plan.depth(Act::AwaitSums); }

TEST(Attention, IsExactAndCleanInOtherOrdersOfAStep) {
  using namespace attention_plan;
  static_assert(depth_of_scores(overlapped) == 1 && depth_of_sums(overlapped) == 0);
  static_assert(depth_of_scores(serial) == 0 && depth_of_sums(serial) == 0);
  static_assert(depth_of_scores(late_sums) == 0 && depth_of_sums(late_sums) == 0);
  static_assert(depth_of_scores(sums_awaited_first) == 0 && depth_of_sums(sums_awaited_first) == 1);
  expect_clean_schedules<Planned<serial>>(5);
  expect_clean_schedules<Planned<sums_awaited_first>>(5);
  expect_clean_schedules<Planned<scores_in_turn, 3>>(5);
}

// Keys and values of a neighbour are no numbers: they must not reach a row that does not see them.
TYPED_TEST(AttentionTest, ValuesThatAreNotSeenMayBeAnything) {
  if (TypeParam::config.scheduling == Scheduling::Dynamic) {
    GTEST_SKIP() << "Lengths on the device need a static schedule.";
  }
  constexpr int columns = TypeParam::config.tiling.n;
  AttentionCase data({.columns = columns, .queries = {30, 40}, .keys = {70, 50}, .ragged = true});
  data.fill_one_hot(1);
  for (int row = 70; row < 120; ++row) {
    for (int column = 0; column < columns; ++column) {
      data.k.bits[data.k.index(row, 0, column)] = HostHeads::poison;
      data.v.bits[data.v.index(row, 0, column)] = HostHeads::poison;
    }
  }
  ASSERT_TRUE(test::clean(run_attention<TypeParam>(data, {})));
  for (int row = 0; row < 30; ++row) {
    for (int column = 0; column < columns; ++column) {
      ASSERT_EQ(data.output.at(row, 0, column), data.v.at(data.picked[row], 0, column));
    }
  }
}

TEST(Attention, RefusesWhatItCannotDo) {
  AttentionCase data({.heads = 4, .key_heads = 2, .columns = 64, .queries = {8}, .keys = {8}});
  typename kernel::WarpSpecialized<Attention<Sm90Attention, Small>>::Params params;
  MatmulGrid grid = {};
  const auto refusal = [&](const auto& change) {
    tw_attention_problem problem = data.problem();
    change(problem);
    return plan_attention<Attention<Sm90Attention, Small>>(params, grid, problem, 3, {},
                                                           encode_for_virtual)
        .sentence();
  };
  EXPECT_EQ(refusal([](tw_attention_problem&) {}), "");
  EXPECT_NE(
      refusal([](tw_attention_problem& p) { p.key_heads = 3; }).find("multiple of key_heads = 3"),
      std::string::npos);
  // 60 is no multiple of 8, and 72 are more columns than the kernel has.
  AttentionCase wide({.heads = 4, .key_heads = 2, .columns = 72, .queries = {8}, .keys = {8}});
  EXPECT_NE(refusal([](tw_attention_problem& p) { p.head_size = 60; }).find("up to 64 and 64"),
            std::string::npos);
  EXPECT_NE(refusal([&](tw_attention_problem& p) { p = wide.problem(); }).find("up to 64 and 64"),
            std::string::npos);
  EXPECT_NE(refusal([](tw_attention_problem& p) { p.scale = -1; }).find("positive"),
            std::string::npos);
  EXPECT_NE(
      refusal([](tw_attention_problem& p) { p.v.row_stride = 132; }).find("132 elements apart"),
      std::string::npos);
  EXPECT_NE(refusal([](tw_attention_problem& p) { p.k.data = nullptr; }).find("keys is null"),
            std::string::npos);
}

}  // namespace
}  // namespace tw::programs
