// The quantisers through libtilewright on the GPU against the host, bit by bit.
#include <gtest/gtest.h>

#include <cstdio>

#include "src/matmul/gpu.h"
#include "tests/families/quantise_problems.h"
#include "tests/gpu/on_device.h"
#include "tests/library/quantise_problem.h"

namespace tw::tests {
namespace {

// Matrices with their answer, on the device.
struct Placed {
  Placed(const QuantiseShape& shape, Fill fill, std::uint64_t seed) : problem(shape, fill, seed) {
    QuantiseData& data = problem.data;
    for (HostMatrix* matrix : {&data.source, &data.elements, &data.scales}) device.add(*matrix);
    given = c_problem(data, shape, [this](HostMatrix& matrix) { return device.address(matrix); });
  }
  void expect_right(const std::string& line) {
    device.read(problem.data.elements);
    device.read(problem.data.scales);
    const Comparison comparison = compare(problem.data, problem.expected);
    ASSERT_TRUE(comparison.good()) << line << "\n" << comparison.complaint();
  }

  VerifiedQuantise problem;
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
  QuantiseShape shape(int i, Random& random) {
    std::vector<const QuantiseInstance*> instances;
    for (const QuantiseInstance& instance : quantise_instances()) {
      if (runs_here(instance.target)) instances.push_back(&instance);
    }
    return random_shape(*instances[static_cast<std::size_t>(i) % instances.size()], random);
  }
};

TEST_F(LibraryQuantiseOnGpu, IsTheHostsBitByBit) {
  Random random(base_seed() + 3);
  for (int i = 0; i < 300; ++i) {
    Placed placed(shape(i, random), fills[i / 4 % 4], base_seed() + static_cast<std::uint64_t>(i));
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
    Placed placed(shape(i, random), Fill::Normal, base_seed());
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
