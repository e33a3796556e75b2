// What the library does around the launch of an FP8 product with scales of blocks; a stand-in for
// the kernels.
#include <gtest/gtest.h>

#include "src/dispatch/choose_launch.h"
#include "tests/library/stand_in.h"
#include "tilewright.h"
#include "tilewright/family/blockwise/family.h"

namespace tw {

namespace tests {
namespace {

struct Launched {
  MatmulProblem product;
  TensorLines a_scales, b_scales;
  Workspace workspace;
  void* stream = nullptr;
  int count = 0;
  int asked = 0;
} launched;

}  // namespace
}  // namespace tests

std::span<const Instance> blockwise_instances() {
  static constexpr ProductFacts facts = {
      {.tiling = {.a_type = ElementType::E4m3, .b_type = ElementType::E4m3}, .promote_every = 1},
      4,
      0,
      false,
      false,
      false,
      128};
  static const Instance table[] = {
      {"only", "sm90a", 1, &facts,
       [](const Checked& problem) {
         return KernelProblem{problem, problem.product()};
       },
       [](const KernelProblem& problem, const LaunchOrder&) {
         ++tests::launched.asked;
         return problem.checked.product().a.type == ElementType::E4m3
                    ? Status::good()
                    : Status::refused("It multiplies e4m3.");
       },
       [](std::size_t& bytes, const Checked&, const LaunchOptions&) {
         bytes = 4096;
         return Status::good();
       },
       [](const Checked& problem, const LaunchOptions& options, void* stream) {
         tests::launched.product = problem.product();
         tests::launched.a_scales = problem.tensor(BlockwiseFamily::a_scales);
         tests::launched.b_scales = problem.tensor(BlockwiseFamily::b_scales);
         tests::launched.workspace = options.workspace;
         tests::launched.stream = stream;
         ++tests::launched.count;
         return Status::good();
       },
       nullptr}};
  return table;
}

namespace tests {
namespace {

class LaunchBlockwise : public ::testing::Test {
 protected:
  void SetUp() override {
    stand_in() = {};
    launched = {};
    tw_blockwise_init(&problem, &options);
    static std::int64_t next = 100;
    problem.matmul.m = ++next;  // so that no test finds another's decisions
    problem.matmul.n = 300;
    problem.matmul.k = 400;
    problem.matmul.a = {memory, 400, 1, 0, TW_E4M3};
    problem.matmul.b = {memory + 64 * 4096, 1, 400, 0, TW_E4M3};
    problem.matmul.d = {memory + 128 * 4096, 300, 1, 0, TW_BF16};
    problem.a_scales = {memory + 192 * 4096, next, 4, 1, 512, 0, TW_FP32};
    problem.b_scales = {memory + 256 * 4096, 3, 4, 4, 1, 0, TW_FP32};
  }
  tw_status call(void* workspace, std::size_t bytes) {
    return tw_blockwise(&problem, &options, workspace, bytes, memory + 7);
  }

  alignas(256) static inline unsigned char memory[512 * 4096];
  alignas(256) unsigned char room[8192] = {};
  tw_blockwise_problem problem;
  tw_blockwise_options options;
};

// Tables know scaled products, and not by the words of plain ones.
TEST_F(LaunchBlockwise, TheTableGoesBeforeTheModel) {
  problem.matmul.m = problem.a_scales.rows = 100;
  Checked checked;
  ASSERT_TRUE(check(checked, BlockwiseFamily::description, &problem).is_good());
  MeasuredTable own = {
      "0.5.0", "Stand-in GPU", "", "", {{"matmul e4m3 100x300x400", "only", 1, 4}}};
  const DispatchRequest request = {.device = "Stand-in GPU", .own_table = &own};
  constexpr auto choose = choose_launch<DescribedProducts<blockwise_instances>>;
  LaunchChoice choice;
  ASSERT_TRUE(choose(choice, checked, request, nullptr).is_good());
  EXPECT_FALSE(choice.measured);
  own.launches[0].call = "blockwise e4m3 100x300x400";
  ASSERT_TRUE(choose(choice, checked, request, nullptr).is_good());
  EXPECT_TRUE(choice.measured);
  EXPECT_EQ(choice.order.group, 4);
}

TEST_F(LaunchBlockwise, TheProblemArrives) {
  ASSERT_EQ(call(room, sizeof room), TW_OK) << tw_message();
  EXPECT_EQ(launched.product.m, problem.matmul.m);
  EXPECT_EQ(launched.product.b.data, memory + 64 * 4096);
  EXPECT_EQ(launched.a_scales.data, memory + 192 * 4096);
  EXPECT_FALSE(launched.a_scales.by_rows);
  EXPECT_EQ(launched.a_scales.pitch, 512);
  EXPECT_EQ(launched.a_scales.length, problem.matmul.m);
  EXPECT_TRUE(launched.b_scales.by_rows);
  EXPECT_EQ(launched.b_scales.pitch, 4);
  EXPECT_EQ(launched.b_scales.length, 4);
  EXPECT_EQ(launched.stream, memory + 7);
  EXPECT_EQ(launched.workspace.data, room);
  EXPECT_EQ(stand_in().count(Event::Clear), 1);
}

TEST_F(LaunchBlockwise, AWarmCallAsksNobody) {
  options.workspace_is_ready = 1;
  ASSERT_EQ(call(room, sizeof room), TW_OK);
  const int asked = launched.asked;
  EXPECT_GT(asked, 0);
  problem.a_scales.data = memory + 320 * 4096;  // elsewhere, aligned alike
  ASSERT_EQ(call(room, sizeof room), TW_OK);
  EXPECT_EQ(launched.asked, asked);
  EXPECT_EQ(launched.a_scales.data, memory + 320 * 4096);
  EXPECT_EQ(stand_in().count(Event::Clear), 0);
  problem.a_scales.k_stride = 513;  // other strides: another decision
  ASSERT_EQ(call(room, sizeof room), TW_OK);
  EXPECT_GT(launched.asked, asked);
}

TEST_F(LaunchBlockwise, WorkspacesAreCheckedAndLimited) {
  std::size_t bytes = 0;
  ASSERT_EQ(tw_blockwise_workspace_size(&bytes, &problem, &options), TW_OK);
  EXPECT_EQ(bytes, 4096u);
  EXPECT_EQ(call(room, 4095), TW_WORKSPACE);
  EXPECT_STREQ(tw_message(), "The workspace has 4095 bytes, but this call needs 4096.");
  options.workspace_limit = 4000;
  EXPECT_EQ(call(room, sizeof room), TW_UNSUPPORTED);
  EXPECT_STREQ(tw_message(),
               "The kernel only needs a workspace of 4096 bytes, but workspace_limit is 4000.");
  EXPECT_EQ(launched.count, 0);
}

TEST_F(LaunchBlockwise, APlanIsForItsProblem) {
  tw_blockwise_plan* plan = nullptr;
  ASSERT_EQ(tw_blockwise_plan_create(&plan, &problem, &options), TW_OK) << tw_message();
  EXPECT_EQ(tw_blockwise_plan_workspace_size(plan), 4096u);
  EXPECT_NE(std::string(tw_blockwise_plan_command(plan)).find("./tw run blockwise --instance only"),
            std::string::npos);
  EXPECT_EQ(tw_blockwise_plan_run(plan, &problem, room, sizeof room, nullptr), TW_OK)
      << tw_message();
  EXPECT_EQ(launched.count, 1);
  problem.b_scales.row_stride = 5;
  EXPECT_EQ(tw_blockwise_plan_run(plan, &problem, room, sizeof room, nullptr), TW_INVALID);
  EXPECT_STREQ(tw_message(),
               "The row_stride of the scales of B is 5, but the plan was made for 4.");
  tw_blockwise_plan_destroy(plan);
}

TEST_F(LaunchBlockwise, WhatNoKernelComputesIsRefused) {
  problem.matmul.a.type = TW_E5M2;
  EXPECT_EQ(tw_blockwise_supported(&problem, &options), TW_UNSUPPORTED);
  EXPECT_STREQ(tw_message(),
               "No compiled kernel computes this product with scales of blocks on sm90a. The "
               "nearest, only: It multiplies e4m3.");
  EXPECT_EQ(launched.count, 0);
}

}  // namespace
}  // namespace tests
}  // namespace tw
