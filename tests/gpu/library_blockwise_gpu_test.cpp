// FP8 products with scales of blocks through libtilewright on the GPU: the library chooses the
// kernel.
#include <gtest/gtest.h>

#include <cstdio>

#include "src/matmul/gpu.h"
#include "tests/families/blockwise_fp8_problems.h"
#include "tests/gpu/on_device.h"
#include "tests/library/blockwise_problem.h"

namespace tw::tests {
namespace {

constexpr std::size_t room = std::size_t{64} << 20;  // the usual workspace_limit

// A problem with its answer, on the device.
struct Placed {
  Placed(const BlockwiseShape& shape, Fill fill, std::uint64_t seed)
      : problem(shape, fill, seed), device(problem.data.matmul) {
    device.add(problem.data.a_scales);
    device.add(problem.data.b_scales);
    given = c_problem(problem.data, shape,
                      [this](HostMatrix& matrix) { return device.address(matrix); });
  }
  void expect_right(const std::string& line) {
    device.read_outputs();
    const Comparison comparison = compare(problem.data.matmul, problem.reference);
    ASSERT_TRUE(comparison.good()) << line << "\n" << comparison.complaint();
  }

  VerifiedBlockwise problem;
  OnDevice device;
  tw_blockwise_problem given;
};

class LibraryBlockwiseOnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  }
  // The i-th random problem, of an instance that runs here: so that there is one.
  BlockwiseShape shape(int i, Random& random) {
    std::vector<const BlockwiseInstance*> instances;
    for (const BlockwiseInstance& instance : blockwise_instances()) {
      if (runs_here(instance.target)) instances.push_back(&instance);
    }
    return random_shape(*instances[static_cast<std::size_t>(i) % instances.size()], random);
  }
  // By a plan, which tells the command that repeats it.
  void expect_planned_right(Placed& placed) {
    tw_blockwise_plan* plan = nullptr;
    ASSERT_EQ(tw_blockwise_plan_create(&plan, &placed.given, nullptr), TW_OK) << tw_message();
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

TEST_F(LibraryBlockwiseOnGpu, ComputesRandomProblemsExactly) {
  Random random(base_seed() + 3);
  for (int i = 0; i < 300; ++i) {
    Placed placed(shape(i, random), i % 3 == 2 ? Fill::Position : Fill::Integers, base_seed());
    expect_planned_right(placed);
    if (HasFatalFailure()) return;
  }
}

// Those that the cost model gives to larger tiles, clusters and parts.
TEST_F(LibraryBlockwiseOnGpu, ComputesLargerProblemsExactly) {
  for (const auto& [m, n, k] : {std::tuple<int, int, int>{1, 4096, 2048},
                                {16, 2048, 4096},
                                {64, 1024, 4096},
                                {100, 2112, 1536},
                                {515, 1300, 700},
                                {1024, 2048, 640},
                                {2000, 1500, 512}}) {
    BlockwiseShape shape;
    shape.matmul.m = m;
    shape.matmul.n = n;
    shape.matmul.k = k;
    shape.matmul.a_type = shape.matmul.b_type = ElementType::E4m3;
    shape.a_scales = m % 2 == 0 ? Major::MN : Major::K;
    Placed placed(shape, Fill::Integers, base_seed());
    expect_planned_right(placed);
    if (HasFatalFailure()) return;
  }
}

TEST_F(LibraryBlockwiseOnGpu, IsCapturedIntoGraphs) {
  Random random(base_seed() + 4);
  for (int i = 0; i < 20; ++i) {
    Placed placed(shape(i, random), Fill::Integers, base_seed());
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
