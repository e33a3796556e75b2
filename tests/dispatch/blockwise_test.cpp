// What the dispatcher takes for FP8 with scales of blocks.
#include "src/dispatch/blockwise.h"

#include <gtest/gtest.h>

namespace tw {
namespace {

BlockwiseProblem problem(std::int64_t m, std::int64_t n, std::int64_t k, unsigned b_scale_rows,
                         const MatmulConfig& config) {
  alignas(16) static unsigned char memory[16];
  const std::int64_t blocks = (k + 127) / 128, b_rows = (n - 1) / b_scale_rows + 1;
  BlockwiseProblem problem;
  problem.matmul.m = m;
  problem.matmul.n = n;
  problem.matmul.k = k;
  problem.matmul.a = {memory, k, 0, config.tiling.a_type};
  problem.matmul.b = {memory, k, 0, config.tiling.b_type};
  problem.matmul.d = {memory, n, 0, config.d_type};
  problem.a_scales = {{memory, blocks, 0, ElementType::Fp32}, m, blocks};
  problem.b_scales = {{memory, blocks, 0, ElementType::Fp32}, b_rows, blocks};
  return problem;
}

BlockwiseProblem usual(std::int64_t m, std::int64_t n, std::int64_t k) {
  return problem(m, n, k, 128,
                 {.tiling = {.a_type = ElementType::E4m3, .b_type = ElementType::E4m3}});
}

BlockwiseChoice chosen(const BlockwiseProblem& problem, const DispatchRequest& request) {
  BlockwiseChoice choice;
  const Status status = choose(choice, problem, request, nullptr);
  EXPECT_TRUE(status.is_good()) << status.sentence();
  return choice;
}

TEST(DispatchBlockwise, EveryInstanceCanBeAskedFor) {
  for (const BlockwiseInstance& instance : blockwise_instances()) {
    const BlockwiseChoice choice =
        chosen(problem(16, 256, 512, instance.b_scale_rows, instance.config),
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

TEST(DispatchBlockwise, KeepsToTheRequest) {
  EXPECT_NE(chosen(usual(64, 512, 16384), {}).instance->config.split, Split::Whole);
  EXPECT_EQ(chosen(usual(64, 512, 16384), {.batch_invariant = true}).instance->config.split,
            Split::Whole);
  EXPECT_NE(chosen(usual(64, 512, 16384), {.workspace_limit = 0}).instance->config.split,
            Split::Parts);
  EXPECT_GT(chosen(usual(4096, 4096, 4096), {}).microseconds,
            chosen(usual(64, 4096, 4096), {}).microseconds);
}

TEST(DispatchBlockwise, SaysWhatTheNearestLacks) {
  BlockwiseProblem given = usual(64, 300, 512);
  given.matmul.d.type = ElementType::Fp16;
  BlockwiseChoice choice;
  std::vector<BlockwiseRejection> rejections;
  const Status status = choose(choice, given, {}, &rejections);
  EXPECT_EQ(rejections.size(), blockwise_instances().size());
  EXPECT_NE(status.sentence().find("D has type fp16; this kernel stores bf16."), std::string::npos)
      << status.sentence();
}

}  // namespace
}  // namespace tw
