// Products in groups through libtilewright on the GPU: the library chooses the kernel.
#include <gtest/gtest.h>

#include <cstdio>

#include "src/matmul/gpu.h"
#include "src/run/grouped.h"
#include "tests/families/seed.h"
#include "tests/gpu/on_device.h"
#include "tilewright.h"

namespace tw::tests {
namespace {

// A problem with its answer, on the device.
struct Placed {
  explicit Placed(const Case& made) : verified(made), ran(verified.given()) {
    for (std::size_t i = 0; i < ran.tensors(); ++i) device.add(ran.tensor(i));
    given = ran.placed([this](std::size_t i) { return device.address(ran.tensor(i)); })
                .as<tw_grouped_problem>();
  }
  void expect_right(const std::string& line) {
    for (std::size_t i = 0; i < ran.tensors(); ++i) {
      if (ran.is_written(i)) device.read(ran.tensor(i));
    }
    const Comparison comparison = verified.compare(ran);
    ASSERT_TRUE(comparison.good()) << line << "\n" << comparison.complaint();
  }

  Verified verified;
  HostProblem ran;
  MatmulData nothing;
  OnDevice device{nothing};
  tw_grouped_problem given;
};

class LibraryGroupedOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  }
  // The i-th random problem, of an instance that runs here.
  Case made(int i, Random& random) {
    std::vector<const Instance*> instances;
    for (const Instance& instance : grouped_instances()) {
      if (runs_here(instance.target)) instances.push_back(&instance);
    }
    return random_case(grouped_trial, *instances[static_cast<std::size_t>(i) % instances.size()],
                       random);
  }
};

TEST_F(LibraryGroupedOnGpu, ComputesRandomProblems) {
  Random random(base_seed() + 3);
  for (int i = 0; i < 200; ++i) {
    Placed placed(made(i, random));
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
    Placed placed(made(i, random));
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
