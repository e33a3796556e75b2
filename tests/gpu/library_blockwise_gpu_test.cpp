// FP8 with scales of blocks through libtilewright on the GPU, as it is and with a quantised D: the
// library chooses the kernel.
#include <gtest/gtest.h>

#include <cstdio>

#include "src/families/blockwise.h"
#include "src/families/requantised.h"
#include "src/verify/gpu.h"
#include "tests/families/seed.h"
#include "tests/gpu/placed.h"
#include "tilewright.h"

namespace tw::tests {
namespace {

constexpr std::size_t room = std::size_t{256} << 20;  // the usual workspace_limit

class LibraryBlockwiseOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  }
  // By a plan, which tells the command that repeats it.
  void expect_planned_right(const Case& made) {
    Placed<tw_blockwise_problem> placed(made);
    tw_blockwise_plan* plan = nullptr;
    ASSERT_EQ(tw_blockwise_plan_create(&plan, &placed.given, nullptr), TW_OK)
        << run_line(made) << "\n"
        << tw_message();
    const std::string line = tw_blockwise_plan_command(plan);
    ASSERT_EQ(tw_blockwise_plan_run(plan, &placed.given, workspace.given().data, room, nullptr),
              TW_OK)
        << line << "\n"
        << tw_message();
    tw_blockwise_plan_destroy(plan);
    wait_or_exit(line);
    placed.expect_right(line);
  }

  const DeviceWorkspace workspace{why_no_gpu().empty() ? room : 0};
};

TEST_F(LibraryBlockwiseOnGpu, ComputesRandomProblems) {
  Random random(base_seed() + 3);
  for (int i = 0; i < 300; ++i) {
    expect_planned_right(case_here(blockwise_trial, i, random));
    if (HasFatalFailure()) return;
  }
}

// Those that the cost model gives to larger tiles, clusters and parts.
TEST_F(LibraryBlockwiseOnGpu, ComputesLargerProblems) {
  for (const auto& [m, n, k] : {std::tuple<int, int, int>{1, 4096, 2048},
                                {16, 2048, 4096},
                                {64, 1024, 4096},
                                {100, 2112, 1536},
                                {515, 1300, 700},
                                {1024, 2048, 640},
                                {2000, 1500, 512}}) {
    Case made = usual_case(blockwise_trial, blockwise_instances()[0]);
    auto& problem = made.as<tw_blockwise_problem>();
    problem.matmul.m = m;
    problem.matmul.n = n;
    problem.matmul.k = k;
    problem.a_scales.k_stride = m % 2;
    expect_planned_right(made);
    if (HasFatalFailure()) return;
  }
}

TEST_F(LibraryBlockwiseOnGpu, QuantisesAgain) {
  Random random(base_seed() + 5);
  for (int i = 0; i < 100; ++i) {
    const Case made = case_here(requantised_trial, i, random);
    Placed<tw_requantised_problem> placed(made);
    ASSERT_EQ(tw_requantised(&placed.given, nullptr, workspace.given().data, room, nullptr), TW_OK)
        << run_line(made) << "\n"
        << tw_message();
    wait_or_exit(run_line(made));
    placed.expect_right(run_line(made));
    if (HasFatalFailure()) return;
  }
}

TEST_F(LibraryBlockwiseOnGpu, IsCapturedIntoGraphs) {
  Random random(base_seed() + 4);
  for (int i = 0; i < 20; ++i) {
    Placed<tw_blockwise_problem> placed(case_here(blockwise_trial, i, random));
    tw_status status = TW_INVALID;
    replay_captured([&](cudaStream_t stream) {
      status = tw_blockwise(&placed.given, nullptr, workspace.given().data, room, stream);
    });
    ASSERT_EQ(status, TW_OK) << tw_message();
    placed.expect_right("captured, problem " + std::to_string(i));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tw::tests
