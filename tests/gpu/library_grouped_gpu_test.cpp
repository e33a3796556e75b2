// Products in groups through libtilewright on the GPU: the library chooses the kernel.
#include <gtest/gtest.h>

#include <cstdio>

#include "src/families/grouped.h"
#include "src/verify/gpu.h"
#include "tests/families/seed.h"
#include "tests/gpu/placed.h"
#include "tilewright.h"

namespace tw::tests {
namespace {

class LibraryGroupedOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  }
};

TEST_F(LibraryGroupedOnGpu, ComputesRandomProblems) {
  Random random(base_seed() + 3);
  for (int i = 0; i < 200; ++i) {
    Placed<tw_grouped_problem> placed(case_here(grouped_trial, i, random));
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
    Placed<tw_grouped_problem> placed(case_here(grouped_trial, i, random));
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
