// What the dispatcher takes for FP8 with scales of blocks.
#include "src/families/blockwise.h"

#include <gtest/gtest.h>

#include "src/dispatch/choose_launch.h"

namespace tw {
namespace {

constexpr auto choose = choose_launch<DescribedProducts<blockwise_instances>>;

// A case's problem without memory.
struct Stated {
  Stated(const Instance& instance, std::int64_t m, std::int64_t n, std::int64_t k,
         tw_type d_type = TW_BF16)
      : made(usual_case(blockwise_trial, instance)) {
    tw_matmul_problem& matmul = made.as<tw_blockwise_problem>().matmul;
    matmul.m = m;
    matmul.n = n;
    matmul.k = k;
    if (d_type != TW_BF16) matmul.d.type = d_type;
    EXPECT_TRUE(made.settle().is_good());
    problem = problem_without_memory(made);
    const Status status = check(checked, BlockwiseFamily::description, problem.data());
    EXPECT_TRUE(status.is_good()) << status.sentence();
  }
  Case made;
  AnyProblem problem = made.problem;
  Checked checked;
};

// A problem of e4m3 with a scale for 128 rows of B.
Stated usual(std::int64_t m, std::int64_t n, std::int64_t k) {
  return Stated(blockwise_instances()[0], m, n, k);
}

LaunchChoice chosen(const Stated& stated, const DispatchRequest& request) {
  LaunchChoice choice;
  const Status status = choose(choice, stated.checked, request, nullptr);
  EXPECT_TRUE(status.is_good()) << status.sentence();
  return choice;
}
Split split_of(const Stated& stated, const DispatchRequest& request) {
  return config_of(*chosen(stated, request).instance).split;
}

TEST(DispatchBlockwise, EveryInstanceCanBeAskedFor) {
  for (const Instance& instance : blockwise_instances()) {
    const LaunchChoice choice = chosen(Stated(instance, 16, 256, 512),
                                       {.target = instance.target, .instance = instance.name});
    EXPECT_EQ(choice.instance, &instance) << instance.name;
  }
}

TEST(DispatchBlockwise, TakesHoppersKernelsThereAndBlackwellsThere) {
  for (const std::int64_t m : {1, 16, 64, 128, 1024, 8192}) {
    EXPECT_STREQ(chosen(usual(m, 4096, 4096), {}).instance->target, "sm90a") << m;
    EXPECT_STREQ(chosen(usual(m, 4096, 4096), {.target = "sm100a"}).instance->target, "sm100a");
  }
}

// Scales that are powers of two are the tensor core's where it has such: nothing is promoted.
TEST(DispatchBlockwise, PowersOfTwoAreBlockScales) {
  for (const std::int64_t m : {1, 64, 300, 1024, 8192}) {
    Stated stated = usual(m, 4096, 4096);
    stated.problem.as<tw_blockwise_problem>().powers_of_two = 1;
    ASSERT_TRUE(
        check(stated.checked, BlockwiseFamily::description, stated.problem.data()).is_good());
    const LaunchChoice choice = chosen(stated, {.target = "sm100a", .sms = 148});
    EXPECT_EQ(config_of(*choice.instance).promote_every, 0u) << m << " " << choice.instance->name;
    EXPECT_STREQ(chosen(stated, {}).instance->target, "sm90a");
    EXPECT_NE(config_of(*chosen(usual(m, 4096, 4096), {.target = "sm100a"}).instance).promote_every,
              0u);
  }
}

// Where tiles of one CTA would be more than the SMs take at once, a pair has twice their rate.
TEST(DispatchBlockwise, APairTakesLargeProducts) {
  for (const std::int64_t m : {64, 300, 1024, 8192}) {
    const DispatchRequest request = {.target = "sm100a", .sms = 148};
    EXPECT_STREQ(chosen(usual(m, 4096, 4096), request).instance->name,
                 m < 1024 ? "blockwise_blackwell" : "blockwise_pair")
        << m;
  }
}

TEST(DispatchBlockwise, KeepsToTheRequest) {
  EXPECT_NE(split_of(usual(64, 512, 16384), {}), Split::Whole);
  EXPECT_EQ(split_of(usual(64, 512, 16384), {.batch_invariant = true}), Split::Whole);
  EXPECT_NE(split_of(usual(64, 512, 16384), {.workspace_limit = 0}), Split::Parts);
  EXPECT_GT(chosen(usual(4096, 4096, 4096), {}).microseconds,
            chosen(usual(64, 4096, 4096), {}).microseconds);
}

TEST(DispatchBlockwise, SaysWhatTheNearestLacks) {
  const Stated given(blockwise_instances()[0], 64, 300, 512, TW_FP16);
  LaunchChoice choice;
  std::vector<LaunchRejection> rejections;
  const Status status = choose(choice, given.checked, {}, &rejections);
  EXPECT_EQ(rejections.size(), blockwise_instances().size());
  EXPECT_NE(status.sentence().find("D has type fp16; this kernel stores bf16."), std::string::npos)
      << status.sentence();
}

}  // namespace
}  // namespace tw
