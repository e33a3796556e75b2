#include <gtest/gtest.h>

#include "tests/families/blockwise_fp8_problems.h"

namespace tw::tests {
namespace {

constexpr vgpu::Landing policies[] = {vgpu::Landing::Eager, vgpu::Landing::Lazy,
                                      vgpu::Landing::Random, vgpu::Landing::Adversarial};

void expect_clean(const BlockwiseInstance& instance, const MatmulOrder& order,
                  const BlockwiseShape& shape, Fill fill, std::uint64_t seed) {
  vgpu::Options options;
  options.landing = policies[seed % 4];
  options.seed = seed;
  options.sm_count = instance.config.cluster.size() * static_cast<unsigned>(1 + seed % 3);
  const std::string line = run_line(instance, order, shape, fill, seed);
  const VirtualRun run =
      run_virtually(instance, order, VerifiedBlockwise(shape, fill, seed), options);
  ASSERT_TRUE(run.clean()) << line << "\n" << run.complaint();
  EXPECT_TRUE(run.comparison.exact || fill == Fill::Normal) << line;
}

TEST(BlockwiseFp8, ComputesRandomProblemsExactlyOnTheVirtualGpu) {
  Random random(base_seed());
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  const char* count = std::getenv("TW_BLOCKWISE_PROBLEMS");
  const int problems = count != nullptr ? std::atoi(count) : 300;
  for (int i = 0; i < problems; ++i) {
    const auto instances = blockwise_instances();
    const BlockwiseInstance& instance = instances[static_cast<std::size_t>(i) % instances.size()];
    const BlockwiseShape shape = random_shape(instance, random);
    expect_clean(instance, random_order(instance, random), shape,
                 i % 3 == 2 ? Fill::Position : Fill::Integers,
                 base_seed() + static_cast<std::uint64_t>(i));
    if (HasFatalFailure()) return;
  }
}

TEST(BlockwiseFp8, KeepsRandomDataWithinTheDerivedBound) {
  Random random(base_seed() + 1);
  for (const BlockwiseInstance& instance : blockwise_instances()) {
    expect_clean(instance, {}, random_shape(instance, random), Fill::Normal, base_seed());
  }
}

}  // namespace
}  // namespace tw::tests
