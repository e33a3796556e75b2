// A plug-in's family through libtilewright on the GPU. TW_PLUGIN names the shared object, whose
// kernel was compiled apart from the library; the reference is linked in.
#define AS_PLUGIN
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "examples/own_family/rotated.cpp"
#include "src/verify/gpu.h"
#include "tests/families/seed.h"
#include "tests/gpu/placed.h"

namespace tw::tests {
namespace {

class PluginOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    if (!runs_here("sm90a", 0)) GTEST_SKIP() << "The plug-in has a kernel for sm_90a alone.";
    std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  }

  static Case random_rotated(Random& random) {
    static const Trial trial = trial_of<Rotated>();
    return random_case(trial, trial.instances()[0], random);
  }
};

TEST_F(PluginOnGpu, IsTheReferences) {
  Random random(base_seed() + 5);
  for (int i = 0; i < 300; ++i) {
    Placed<RotatedProblem> placed(random_rotated(random));
    tw_plan* plan = nullptr;
    ASSERT_EQ(tw_plan_create(&plan, &placed.given, nullptr), TW_OK) << tw_message();
    const std::string line = tw_plan_command(plan);
    EXPECT_NE(line.find("rotated_hopper"), std::string::npos) << line;
    tw_plan_destroy(plan);
    ASSERT_EQ(tw_run(&placed.given, nullptr, nullptr, 0, nullptr), TW_OK) << line << "\n"
                                                                          << tw_message();
    wait_or_exit(line);
    placed.expect_right(line);
    if (HasFatalFailure()) return;
  }
}

TEST_F(PluginOnGpu, IsCapturedIntoGraphs) {
  Random random(base_seed() + 6);
  for (int i = 0; i < 20; ++i) {
    Placed<RotatedProblem> placed(random_rotated(random));
    tw_status status = TW_INVALID;
    replay_captured(
        [&](cudaStream_t stream) { status = tw_run(&placed.given, nullptr, nullptr, 0, stream); });
    ASSERT_EQ(status, TW_OK) << tw_message();
    placed.expect_right("captured, product " + std::to_string(i));
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tw::tests
