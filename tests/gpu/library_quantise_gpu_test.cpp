// The quantisers through libtilewright on the GPU against the host, bit by bit.
#include <gtest/gtest.h>

#include <cstdio>

#include "src/verify/gpu.h"
#include "tests/families/seed.h"
#include "tests/gpu/placed.h"
#include "tests/library/quantise_problem.h"

namespace tw::tests {
namespace {

class LibraryQuantiseOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  }
};

TEST_F(LibraryQuantiseOnGpu, IsTheHostsBitByBit) {
  Random random(base_seed() + 3);
  for (int i = 0; i < 300; ++i) {
    Placed<tw_quantise_problem> placed(case_here(quantise_trial, i, random));
    tw_quantise_plan* plan = nullptr;
    ASSERT_EQ(tw_quantise_plan_create(&plan, &placed.given, nullptr), TW_OK) << tw_message();
    const std::string line = tw_quantise_plan_command(plan);
    EXPECT_EQ(tw_quantise_plan_run(plan, &placed.given, nullptr, 0, nullptr), TW_OK)
        << line << "\n"
        << tw_message();
    tw_quantise_plan_destroy(plan);
    wait_or_exit(line);
    placed.expect_right(line);
    if (HasFatalFailure()) return;
  }
}

TEST_F(LibraryQuantiseOnGpu, IsCapturedIntoGraphs) {
  Random random(base_seed() + 4);
  for (int i = 0; i < 20; ++i) {
    Placed<tw_quantise_problem> placed(case_here(quantise_trial, i, random));
    tw_status status = TW_INVALID;
    replay_captured([&](cudaStream_t stream) {
      status = tw_quantise(&placed.given, nullptr, nullptr, 0, stream);
    });
    ASSERT_EQ(status, TW_OK) << tw_message();
    placed.expect_right("captured, matrix " + std::to_string(i));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tw::tests
