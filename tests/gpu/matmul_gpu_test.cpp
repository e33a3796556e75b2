// The same problems as on the virtual GPU, on the real one. Skipped, visibly, where there is none.
#include <gtest/gtest.h>

#include "src/matmul/gpu.h"
#include "tests/families/problems.h"

namespace tw::tests {
namespace {

class MatmulOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
  }
};

std::vector<RandomProblem> untraced(std::vector<RandomProblem> problems) {
  std::erase_if(problems, [](const RandomProblem& problem) {
    return problem.instance->config.tracing == Tracing::On;
  });
  return problems;
}

TEST_F(MatmulOnGpu, ComputesRaggedProblemsExactly) {
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  for (int largest : {320, 3000}) {
    for (const RandomProblem& problem : untraced(random_problems(360, largest, base_seed()))) {
      MatmulData data = make_matmul_data(problem.shape, Fill::Integers, problem.seed);
      const Status status = run_on_gpu(*problem.instance, problem.order, data, problem.shape, 1);
      ASSERT_TRUE(status.is_good()) << problem.name() << status.sentence();
      const Comparison comparison =
          compare(data, reference_on_gpu(data, problem.shape), problem.shape, Fill::Integers);
      ASSERT_TRUE(comparison.good())
          << problem.name() << " wrong " << comparison.wrong << " padding "
          << comparison.padding_touched << " " << comparison.first;
    }
  }
}

TEST_F(MatmulOnGpu, KeepsRandomDataWithinTheDerivedBound) {
  for (const RandomProblem& problem : untraced(random_problems(40, 2000, base_seed() + 1))) {
    MatmulData data = make_matmul_data(problem.shape, Fill::Normal, problem.seed);
    const Status status = run_on_gpu(*problem.instance, problem.order, data, problem.shape, 1);
    ASSERT_TRUE(status.is_good()) << problem.name() << status.sentence();
    const Comparison comparison =
        compare(data, reference_on_gpu(data, problem.shape), problem.shape, Fill::Normal);
    ASSERT_TRUE(comparison.good()) << problem.name() << " " << comparison.first;
  }
}

// Many launches of mixed shapes: the last of each hundred must give what the first gave.
TEST_F(MatmulOnGpu, TenThousandLaunchesWithoutHangOrDifference) {
  int launches = 0;
  for (const RandomProblem& problem : untraced(random_problems(117, 2500, base_seed() + 2))) {
    MatmulData first = make_matmul_data(problem.shape, Fill::Normal, problem.seed);
    MatmulData last = first;
    ASSERT_TRUE(run_on_gpu(*problem.instance, problem.order, first, problem.shape, 1).is_good());
    ASSERT_TRUE(run_on_gpu(*problem.instance, problem.order, last, problem.shape, 100).is_good());
    launches += 101;
    for (std::size_t i = 0; i < first.d.values.size(); ++i) {
      ASSERT_EQ(first.d.values[i].bits, last.d.values[i].bits)
          << problem.name() << " element " << i;
    }
  }
  std::printf("%d launches\n", launches);
  EXPECT_GE(launches, 10000);
}

}  // namespace
}  // namespace tw::tests
