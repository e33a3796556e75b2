// Blockwise FP8 on the GPU against the direct product on the host.
#include "src/matmul/gpu.h"
#include "tests/families/blockwise_fp8_problems.h"
#include "tests/gpu/on_device.h"

namespace tw::tests {
namespace {

std::vector<const BlockwiseInstance*> instances_here() {
  std::vector<const BlockwiseInstance*> here;
  for (const BlockwiseInstance& instance : blockwise_instances()) {
    if (runs_here(instance.target)) here.push_back(&instance);
  }
  return here;
}

void expect_right(const BlockwiseInstance& instance, const MatmulOrder& order,
                  const BlockwiseShape& shape, Fill fill, std::uint64_t seed) {
  const std::string line = run_line(instance, order, shape, fill, seed);
  VerifiedBlockwise problem(shape, fill, seed);
  OnDevice device(problem.data.matmul);
  device.add(problem.data.a_scales);
  device.add(problem.data.b_scales);
  const BlockwiseProblem given =
      blockwise_at(problem.data, shape, [&](HostMatrix& matrix) { return device.address(matrix); });
  std::size_t bytes = 0;
  Status status = instance.workspace(bytes, given, order);
  ASSERT_TRUE(status.is_good()) << line << "\n" << status.sentence();
  const DeviceWorkspace workspace(bytes);
  // The second launch finds what the first left in the workspace.
  for (int launch = 0; launch < 2; ++launch) {
    status = instance.launch(given, order, workspace.given(), nullptr);
    ASSERT_TRUE(status.is_good()) << line << "\n" << status.sentence();
  }
  wait_or_exit(line);
  device.read_outputs();
  const Comparison comparison = compare(problem.data.matmul, problem.reference);
  ASSERT_TRUE(comparison.good()) << line << "\n" << comparison.complaint();
}

TEST(BlockwiseFp8Gpu, ComputesRandomProblemsExactly) {
  if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  Random random(base_seed());
  for (int i = 0; i < 60; ++i) {
    for (const BlockwiseInstance* instance : instances_here()) {
      const BlockwiseShape shape = random_shape(*instance, random);
      expect_right(*instance, random_order(*instance, random), shape,
                   i % 3 == 2 ? Fill::Position : Fill::Integers,
                   base_seed() + static_cast<std::uint64_t>(i));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(BlockwiseFp8Gpu, KeepsRandomDataWithinTheDerivedBound) {
  if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  Random random(base_seed() + 1);
  for (int i = 0; i < 5; ++i) {
    for (const BlockwiseInstance* instance : instances_here()) {
      expect_right(*instance, {}, random_shape(*instance, random), Fill::Normal,
                   base_seed() + static_cast<std::uint64_t>(i));
      if (HasFatalFailure()) return;
    }
  }
}

// Many tiles for every CTA, many laps of the ring.
TEST(BlockwiseFp8Gpu, ComputesALargeProblemExactly) {
  if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  for (const BlockwiseInstance* instance : instances_here()) {
    BlockwiseShape shape = shape_for(*instance);
    shape.matmul.m =
        instance->config.tiling.loaded_rows != 0 ? instance->config.tiling.loaded_rows : 1111;
    shape.matmul.n = 2100;
    shape.matmul.k = 400;
    shape.a_scales = Major::MN;
    expect_right(*instance, {}, shape, Fill::Integers, 3);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tw::tests
