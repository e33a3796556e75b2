// Convolutions through libtilewright on the GPU: the library chooses the kernel.
#include <gtest/gtest.h>

#include <cstdio>

#include "src/matmul/gpu.h"
#include "tests/families/conv2d_problems.h"
#include "tests/gpu/on_device.h"
#include "tests/library/conv2d_problem.h"

namespace tw::tests {
namespace {

constexpr std::size_t room = std::size_t{64} << 20;  // the usual workspace_limit

class LibraryConv2dOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  }
  // The i-th random problem, of an instance that runs here: so that there is one.
  Conv2dShape shape(int i, Random& random) {
    std::vector<const Conv2dInstance*> instances;
    for (const Conv2dInstance& instance : conv2d_instances()) {
      if (runs_here(instance.target)) instances.push_back(&instance);
    }
    return random_shape(*instances[static_cast<std::size_t>(i) % instances.size()], random);
  }
};

TEST_F(LibraryConv2dOnGpu, ComputesRandomProblemsExactly) {
  Random random(base_seed() + 3);
  const DeviceWorkspace workspace(room);
  for (int i = 0; i < 300; ++i) {
    const VerifiedConv2d problem(shape(i, random), Fill::Integers, base_seed());
    MatmulData data = problem.data;
    OnDevice device(data);
    const tw_conv2d_problem given =
        c_problem(data, problem.shape, [&](HostMatrix& matrix) { return device.address(matrix); });
    tw_conv2d_plan* plan = nullptr;
    ASSERT_EQ(tw_conv2d_plan_create(&plan, &given, nullptr), TW_OK) << tw_message();
    const std::string line = tw_conv2d_plan_command(plan);
    ASSERT_EQ(tw_conv2d_plan_run(plan, &given, workspace.given().data, room, nullptr), TW_OK)
        << line << "\n"
        << tw_message();
    tw_conv2d_plan_destroy(plan);
    wait_or_exit(line);
    device.read_outputs();
    const Comparison comparison = compare(data, problem.reference);
    ASSERT_TRUE(comparison.good()) << line << "\n" << comparison.complaint();
  }
}

TEST_F(LibraryConv2dOnGpu, IsCapturedIntoGraphs) {
  Random random(base_seed() + 4);
  const DeviceWorkspace workspace(room);
  for (int i = 0; i < 20; ++i) {
    const VerifiedConv2d problem(shape(i, random), Fill::Integers, base_seed());
    MatmulData data = problem.data;
    OnDevice device(data);
    const tw_conv2d_problem given =
        c_problem(data, problem.shape, [&](HostMatrix& matrix) { return device.address(matrix); });
    tw_status status = TW_INVALID;
    replay_captured([&](cudaStream_t stream) {
      status = tw_conv2d(&given, nullptr, workspace.given().data, room, stream);
    });
    ASSERT_EQ(status, TW_OK) << tw_message();
    device.read_outputs();
    const Comparison comparison = compare(data, problem.reference);
    ASSERT_TRUE(comparison.good()) << comparison.complaint();
  }
}

}  // namespace
}  // namespace tw::tests
