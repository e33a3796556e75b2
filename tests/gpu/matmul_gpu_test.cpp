// The same problems as on the virtual GPU, on the real one. Skipped, visibly, where there is none.
#include <gtest/gtest.h>

#include "src/verify/compare.h"
#include "src/verify/gpu.h"
#include "src/verify/on_gpu.h"
#include "tests/families/problems.h"

namespace tw::tests {
namespace {

class MatmulOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
  }
};

// Keeps instances that this GPU can run, without tracing.
std::vector<MatmulTask> runnable(std::vector<MatmulTask> problems) {
  std::erase_if(problems, [](const MatmulTask& problem) {
    return config_of(*problem.instance).tracing == Tracing::On ||
           !why_not_on_gpu(*problem.instance).empty();
  });
  return problems;
}

TEST_F(MatmulOnGpu, ComputesRaggedProblemsExactly) {
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  int problems = 0, failures = 0;
  for (const auto& [count, largest] : {std::pair{700, 320}, std::pair{120, 2000}}) {
    for (const MatmulTask& problem : runnable(random_problems(count, largest, base_seed()))) {
      if (failures > 10) return;
      MatmulData data = make_matmul_data(problem.shape, problem.fill, problem.seed);
      const Status status = run_on_gpu(*problem.instance, problem.order, data, problem.shape, 1);
      ASSERT_TRUE(status.is_good()) << run_line(problem) << status.sentence();
      const Comparison comparison = compare(data, reference_on_gpu(data, problem.shape));
      EXPECT_TRUE(comparison.good()) << run_line(problem) << "\n" << comparison.complaint();
      failures += !comparison.good();
      problems += 1;
    }
  }
  std::printf("%d problems\n", problems);
}

TEST_F(MatmulOnGpu, KeepsRandomDataWithinTheDerivedBound) {
  for (const MatmulTask& problem : runnable(random_problems(40, 2000, base_seed() + 1))) {
    MatmulData data = make_matmul_data(problem.shape, Fill::Normal, problem.seed);
    const Status status = run_on_gpu(*problem.instance, problem.order, data, problem.shape, 1);
    ASSERT_TRUE(status.is_good()) << run_line(problem) << status.sentence();
    const Comparison comparison = compare(data, reference_on_gpu(data, problem.shape));
    ASSERT_TRUE(comparison.good()) << run_line(problem) << "\n" << comparison.complaint();
  }
}

// exp, erf and tanh are our own: where D keeps all bits of the sums, it has those of the host.
TEST_F(MatmulOnGpu, ActivationsHaveTheBitsOfTheHost) {
  int problems = 0;
  for (const Instance& instance : matmul_trial.instances()) {
    MatmulTask problem = {usual_shape(instance), usual_order(instance)};
    problem.instance = &instance;
    MatmulShape& shape = problem.shape;
    if (shape.d_type != ElementType::Fp32 || runnable({problem}).empty()) continue;
    shape.m = fitting_rows(instance, 200);
    shape.n = 264;
    shape.k = 512;
    shape.epilogue.alpha = 0x1p-6f;  // most arguments lie between -8 and 8
    for (const Activation activation : {Activation::Gelu, Activation::Silu, Activation::Tanh}) {
      shape.epilogue.activation = activation;
      MatmulData data = make_matmul_data(shape, problem.fill, problem.seed);
      ASSERT_TRUE(run_on_gpu(instance, problem.order, data, shape, 1).is_good());
      const Comparison comparison = compare(data, reference_on_gpu(data, shape));
      EXPECT_TRUE(comparison.good()) << run_line(problem) << "\n" << comparison.complaint();
      EXPECT_TRUE(comparison.exact) << run_line(problem);
      problems += 1;
    }
  }
  EXPECT_GT(problems, 0);
}

// Many launches of mixed shapes: the last of each hundred must give what the first gave.
TEST_F(MatmulOnGpu, TenThousandLaunchesWithoutHangOrDifference) {
  int launches = 0;
  for (const MatmulTask& problem : runnable(random_problems(140, 2500, base_seed() + 2))) {
    MatmulData first = make_matmul_data(problem.shape, Fill::Normal, problem.seed);
    MatmulData last = first;
    ASSERT_TRUE(run_on_gpu(*problem.instance, problem.order, first, problem.shape, 1).is_good());
    ASSERT_TRUE(run_on_gpu(*problem.instance, problem.order, last, problem.shape, 100).is_good());
    launches += 101;
    ASSERT_TRUE(same_outputs(first, last)) << run_line(problem);
  }
  std::printf("%d launches\n", launches);
  EXPECT_GE(launches, 10000);
}

}  // namespace
}  // namespace tw::tests
