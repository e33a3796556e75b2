// Products in groups through libtilewright on the GPU: the library chooses the kernel.
#include <gtest/gtest.h>

#include <cstdio>

#include "src/matmul/gpu.h"
#include "tests/families/grouped_problems.h"
#include "tests/gpu/on_device.h"
#include "tests/library/grouped_problem.h"

namespace tw::tests {
namespace {

// A problem with its answer, on the device.
struct Placed {
  Placed(const GroupedShape& shape, std::uint64_t seed)
      : problem(shape, Fill::Integers, seed), device(problem.data.matmul) {
    GroupedData& data = problem.data;
    for (HostMatrix* matrix : {&data.rows, &data.index, &data.a_scales, &data.b_scales}) {
      device.add(*matrix);
    }
    given = c_problem(data, shape, [this](HostMatrix& matrix) { return device.address(matrix); });
  }
  void expect_right(const std::string& line) {
    device.read_outputs();
    judge_other_rows(problem.data, problem.shape);
    const Comparison comparison = compare(problem.data.matmul, problem.reference);
    ASSERT_TRUE(comparison.good()) << line << "\n" << comparison.complaint();
  }

  VerifiedGrouped problem;
  OnDevice device;
  tw_grouped_problem given;
};

class LibraryGroupedOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  }
  // The i-th random problem, of an instance that runs here: so that there is one.
  GroupedShape shape(int i, Random& random) {
    std::vector<const GroupedInstance*> instances;
    for (const GroupedInstance& instance : grouped_instances()) {
      if (runs_here(instance.target)) instances.push_back(&instance);
    }
    return random_shape(*instances[static_cast<std::size_t>(i) % instances.size()], random);
  }
};

TEST_F(LibraryGroupedOnGpu, ComputesRandomProblemsExactly) {
  Random random(base_seed() + 3);
  for (int i = 0; i < 200; ++i) {
    Placed placed(shape(i, random), base_seed());
    tw_grouped_plan* plan = nullptr;
    ASSERT_EQ(tw_grouped_plan_create(&plan, &placed.given, nullptr), TW_OK) << tw_message();
    const std::string line = tw_grouped_plan_command(plan);
    EXPECT_EQ(tw_grouped_plan_run(plan, &placed.given, nullptr, 0, nullptr), TW_OK) << line << "\n"
                                                                                    << tw_message();
    tw_grouped_plan_destroy(plan);
    wait_or_exit(line);
    placed.expect_right(line);
    if (HasFatalFailure()) return;
  }
}

TEST_F(LibraryGroupedOnGpu, IsCapturedIntoGraphs) {
  Random random(base_seed() + 4);
  for (int i = 0; i < 20; ++i) {
    Placed placed(shape(i, random), base_seed());
    tw_status status = TW_INVALID;
    replay_captured([&](cudaStream_t stream) {
      status = tw_grouped(&placed.given, nullptr, nullptr, 0, stream);
    });
    ASSERT_EQ(status, TW_OK) << tw_message();
    placed.expect_right("captured, problem " + std::to_string(i));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tw::tests
