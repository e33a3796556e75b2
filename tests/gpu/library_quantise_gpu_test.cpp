// The quantisers through libtilewright on the GPU against the host, bit by bit.
#include <gtest/gtest.h>

#include <cstdio>

#include "src/matmul/gpu.h"
#include "tests/families/seed.h"
#include "tests/gpu/on_device.h"
#include "tests/library/quantise_problem.h"

namespace tw::tests {
namespace {

// Matrices with their answer, on the device.
struct Placed {
  explicit Placed(const Case& made) : verified(made), ran(verified.given()) {
    for (std::size_t i = 0; i < ran.tensors(); ++i) device.add(ran.tensor(i));
    given = ran.placed([this](std::size_t i) { return device.address(ran.tensor(i)); })
                .as<tw_quantise_problem>();
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
  tw_quantise_problem given;
};

class LibraryQuantiseOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  }
  // The i-th random matrix, of an instance that runs here.
  Case made(int i, Random& random) {
    std::vector<const Instance*> instances;
    for (const Instance& instance : quantise_instances()) {
      if (runs_here(instance.target)) instances.push_back(&instance);
    }
    return random_case(quantise_trial, *instances[static_cast<std::size_t>(i) % instances.size()],
                       random);
  }
};

TEST_F(LibraryQuantiseOnGpu, IsTheHostsBitByBit) {
  Random random(base_seed() + 3);
  for (int i = 0; i < 300; ++i) {
    Placed placed(made(i, random));
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
    Placed placed(made(i, random));
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
