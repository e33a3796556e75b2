// Convolutions through libtilewright on the GPU: the library chooses the kernel.
#include <gtest/gtest.h>

#include <cstdio>

#include "src/families/conv2d.h"
#include "src/verify/gpu.h"
#include "tests/families/seed.h"
#include "tests/gpu/placed.h"
#include "tilewright.h"

namespace tw::tests {
namespace {

constexpr std::size_t room = std::size_t{256} << 20;  // the usual workspace_limit

class LibraryConv2dOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  }
};

TEST_F(LibraryConv2dOnGpu, ComputesRandomProblems) {
  Random random(base_seed() + 3);
  const DeviceWorkspace workspace(room);
  for (int i = 0; i < 300; ++i) {
    Placed<tw_conv2d_problem> placed(case_here(conv2d_trial, i, random));
    tw_conv2d_plan* plan = nullptr;
    ASSERT_EQ(tw_conv2d_plan_create(&plan, &placed.given, nullptr), TW_OK) << tw_message();
    const std::string line = tw_conv2d_plan_command(plan);
    ASSERT_EQ(tw_conv2d_plan_run(plan, &placed.given, workspace.given().data, room, nullptr), TW_OK)
        << line << "\n"
        << tw_message();
    tw_conv2d_plan_destroy(plan);
    wait_or_exit(line);
    placed.expect_right(line);
    if (HasFatalFailure()) return;
  }
}

TEST_F(LibraryConv2dOnGpu, IsCapturedIntoGraphs) {
  Random random(base_seed() + 4);
  const DeviceWorkspace workspace(room);
  for (int i = 0; i < 20; ++i) {
    Placed<tw_conv2d_problem> placed(case_here(conv2d_trial, i, random));
    tw_status status = TW_INVALID;
    replay_captured([&](cudaStream_t stream) {
      status = tw_conv2d(&placed.given, nullptr, workspace.given().data, room, stream);
    });
    ASSERT_EQ(status, TW_OK) << tw_message();
    placed.expect_right("captured, problem " + std::to_string(i));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tw::tests
