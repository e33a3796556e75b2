// What the library does around the launch of a convolution; a stand-in for the kernels.
#include <gtest/gtest.h>

#include <cstring>

#include "src/families/conv2d_choice.h"
#include "src/library/device.h"
#include "tests/library/stand_in.h"
#include "tilewright.h"
#include "tilewright/family/conv2d/launch.h"

namespace tw {

namespace tests {
namespace {

struct Launched {
  tw_conv2d_problem problem;
  EpilogueArguments epilogue;
  Workspace workspace;
  void* stream = nullptr;
  int count = 0;
  int asked = 0;
} launched;

}  // namespace
}  // namespace tests

std::span<const Instance> conv2d_instances() {
  static constexpr Conv2dFacts facts = {};
  static const Instance table[] = {
      {"only", "sm90a", 1, &facts,
       [](const Checked& problem) {
         return KernelProblem{problem, Conv2dLaunch::product(problem, facts)};
       },
       [](const KernelProblem& problem, const LaunchOrder&) {
         ++tests::launched.asked;
         return problem.checked.as<tw_conv2d_problem>().type == TW_BF16
                    ? Status::good()
                    : Status::refused("It multiplies bf16.");
       },
       [](std::size_t& bytes, const Checked&, const LaunchOptions&) {
         bytes = 4096;
         return Status::good();
       },
       [](const Checked& problem, const LaunchOptions& options, void* stream) {
         tests::launched.problem = problem.as<tw_conv2d_problem>();
         tests::launched.epilogue = problem.product().epilogue;
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

class LaunchConv2d : public ::testing::Test {
 protected:
  void SetUp() override {
    stand_in() = {};
    launched = {};
    tw_conv2d_init(&problem, &options);
    static std::int64_t next = 0;
    problem.n = ++next;  // so that no test finds another's decisions
    problem.c = problem.k = 8;
    problem.h = {6, 3, 1, 1, 1, 1};
    problem.w = {5, 1, 2, 1, 0, 0};
    problem.image = memory;
    problem.filter = memory + 64 * 1024;
    problem.d = memory + 128 * 1024;
  }
  tw_status call(void* workspace, std::size_t bytes) {
    return tw_conv2d(&problem, &options, workspace, bytes, memory + 7);
  }

  alignas(256) static inline unsigned char memory[512 * 1024];
  alignas(256) unsigned char room[8192] = {};
  tw_conv2d_problem problem;
  tw_conv2d_options options;
};

// Tables know convolutions: the only kernel is taken with the table's order.
TEST(MeasuredConv2d, TheTableGoesBeforeTheModel) {
  alignas(16) static int somewhere[4];
  tw_conv2d_problem problem;
  tw_conv2d_init(&problem, nullptr);
  problem.n = 4;
  problem.c = problem.k = 8;
  problem.h = problem.w = {6, 3, 1, 1, 1, 1};
  problem.image = problem.filter = problem.d = somewhere;
  const MeasuredTable own = {
      "0.5.0", "Stand-in GPU", "", "", {{"conv2d bf16 4x6x6x8x8x3x3,1,1", "only", 1, 4}}};
  const DispatchRequest request = {.device = "Stand-in GPU", .own_table = &own};
  LaunchChoice choice;
  Checked checked;
  ASSERT_TRUE(check(checked, Conv2dFamily::description, &problem).is_good());
  ASSERT_TRUE(choose_conv2d(choice, checked, request, nullptr).is_good());
  EXPECT_TRUE(choice.measured);
  EXPECT_EQ(choice.order.group, 4);
  problem.n = 5;
  ASSERT_TRUE(check(checked, Conv2dFamily::description, &problem).is_good());
  ASSERT_TRUE(choose_conv2d(choice, checked, request, nullptr).is_good());
  EXPECT_FALSE(choice.measured);
}

TEST_F(LaunchConv2d, ALaunchIsACandidateOnce) {
  Checked checked;
  ASSERT_TRUE(check(checked, Conv2dFamily::description, &problem).is_good());
  EXPECT_EQ(conv2d_candidates(checked, {}, nullptr).size(), 1u);
}

TEST_F(LaunchConv2d, TheProblemArrives) {
  problem.epilogue.beta = 1.0f;
  problem.epilogue.source = {memory + 256 * 1024, 8, 1, 0, TW_BF16};
  ASSERT_EQ(call(room, sizeof room), TW_OK) << tw_message();
  EXPECT_EQ(std::memcmp(&launched.problem, &problem, sizeof problem), 0);
  EXPECT_EQ(launched.epilogue.source, memory + 256 * 1024);
  EXPECT_EQ(launched.epilogue.source_pitch, 8);
  EXPECT_EQ(launched.stream, memory + 7);
  EXPECT_EQ(launched.workspace.data, room);
  EXPECT_EQ(stand_in().count(Event::Clear), 1);
}

TEST_F(LaunchConv2d, AWarmCallAsksNobodyAndAReadyWorkspaceIsNotCleared) {
  options.workspace_is_ready = 1;
  ASSERT_EQ(call(room, sizeof room), TW_OK);
  const int asked = launched.asked;
  EXPECT_GT(asked, 0);
  ASSERT_EQ(call(room, sizeof room), TW_OK);
  EXPECT_EQ(launched.asked, asked);
  EXPECT_EQ(launched.count, 2);
  EXPECT_EQ(stand_in().count(Event::Clear), 0);
  problem.filter = memory + 64 * 1024 + 2;  // aligned otherwise: another decision
  ASSERT_EQ(call(room, sizeof room), TW_OK);
  EXPECT_GT(launched.asked, asked);
}

TEST_F(LaunchConv2d, WorkspacesAreChecked) {
  std::size_t bytes = 0;
  ASSERT_EQ(tw_conv2d_workspace_size(&bytes, &problem, &options), TW_OK);
  EXPECT_EQ(bytes, 4096u);
  EXPECT_EQ(call(room, 4095), TW_WORKSPACE);
  EXPECT_STREQ(tw_message(), "The workspace has 4095 bytes, but this call needs 4096.");
  EXPECT_EQ(call(room + 1, 4096), TW_WORKSPACE);
  EXPECT_EQ(launched.count, 0);
}

TEST_F(LaunchConv2d, APlanIsForItsProblem) {
  tw_conv2d_plan* plan = nullptr;
  ASSERT_EQ(tw_conv2d_plan_create(&plan, &problem, &options), TW_OK) << tw_message();
  EXPECT_EQ(tw_conv2d_plan_workspace_size(plan), 4096u);
  EXPECT_NE(std::string(tw_conv2d_plan_command(plan)).find("./tw run conv2d --instance only"),
            std::string::npos);
  EXPECT_EQ(tw_conv2d_plan_run(plan, &problem, room, sizeof room, nullptr), TW_OK) << tw_message();
  EXPECT_EQ(launched.count, 1);
  problem.h.stride = 2;
  EXPECT_EQ(tw_conv2d_plan_run(plan, &problem, room, sizeof room, nullptr), TW_INVALID);
  EXPECT_STREQ(tw_message(), "A stride is 2, but the plan was made for 1.");
  problem.h.stride = 1;
  stand_in().device = 1;
  EXPECT_EQ(tw_conv2d_plan_run(plan, &problem, room, sizeof room, nullptr), TW_INVALID);
  tw_conv2d_plan_destroy(plan);
}

// No kernel of convolutions takes fp16 here: a matmul's gets the product that it is, warm as well.
TEST_F(LaunchConv2d, APointwiseOneIsAProduct) {
  problem.h = {6, 1, 1, 1, 0, 0};
  problem.w = {5, 1, 1, 1, 0, 0};
  problem.k = 24;
  problem.type = TW_FP16;
  problem.epilogue.beta = 1.0f;
  problem.epilogue.source = {memory + 256 * 1024, 32, 1, 0, TW_BF16};
  void* const workspace = memory + 384 * 1024;
  for (int i = 0; i < 2; ++i) {
    stand_in().events.clear();
    ASSERT_EQ(call(workspace, split_workspace_bytes), TW_OK) << tw_message();
    ASSERT_EQ(stand_in().count(Event::Launch), 1);
    const MatmulProblem& product = stand_in().events.back().problem;
    EXPECT_EQ(product.m, 30 * problem.n);
    EXPECT_EQ(product.n, 24);
    EXPECT_EQ(product.k, 8);
    EXPECT_EQ(product.a.data, problem.image);
    EXPECT_EQ(product.b.data, problem.filter);
    EXPECT_EQ(product.d.data, problem.d);
    EXPECT_EQ(product.epilogue.source_pitch, 32);
  }
  EXPECT_EQ(launched.count, 0);
  tw_conv2d_plan* plan = nullptr;
  ASSERT_EQ(tw_conv2d_plan_create(&plan, &problem, &options), TW_OK) << tw_message();
  EXPECT_EQ(std::string(tw_conv2d_plan_command(plan)).find("./tw run matmul --instance split"), 0u);
  EXPECT_EQ(tw_conv2d_plan_run(plan, &problem, workspace, split_workspace_bytes, nullptr), TW_OK);
  EXPECT_EQ(stand_in().count(Event::Launch), 2);
  tw_conv2d_plan_destroy(plan);
  options.instance = "only";  // a convolution's own kernel may still be named
  EXPECT_EQ(tw_conv2d_supported(&problem, &options), TW_UNSUPPORTED);
  problem.type = TW_BF16;
  ASSERT_EQ(call(room, sizeof room), TW_OK) << tw_message();
  EXPECT_EQ(launched.count, 1);
}

TEST_F(LaunchConv2d, WhatNoKernelComputesIsRefused) {
  problem.type = TW_FP16;
  EXPECT_EQ(tw_conv2d_supported(&problem, &options), TW_UNSUPPORTED);
  EXPECT_STREQ(tw_message(),
               "No compiled kernel computes this convolution on sm90a. The nearest, only: It "
               "multiplies bf16.");
  EXPECT_EQ(launched.count, 0);
}

}  // namespace
}  // namespace tests
}  // namespace tw
