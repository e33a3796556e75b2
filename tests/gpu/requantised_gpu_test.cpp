// Blockwise FP8 with a quantised D on the GPU against the host, bit by bit.
#include "src/matmul/gpu.h"
#include "tests/families/requantised_problems.h"
#include "tests/gpu/on_device.h"

namespace tw::tests {
namespace {

std::vector<const RequantisedInstance*> instances_here() {
  std::vector<const RequantisedInstance*> here;
  for (const RequantisedInstance& instance : requantised_instances()) {
    if (runs_here(instance.target)) here.push_back(&instance);
  }
  return here;
}

void expect_right(const RequantisedInstance& instance, const RequantisedShape& shape, Fill fill,
                  std::uint64_t seed) {
  const std::string line = run_line(instance, shape, fill, seed);
  VerifiedRequantised problem(shape, fill, seed);
  RequantisedData& data = problem.data;
  OnDevice device(data.product.matmul);
  for (HostMatrix* matrix : {&data.product.a_scales, &data.product.b_scales, &data.scales}) {
    device.add(*matrix);
  }
  const RequantisedProblem given =
      requantised_at(data, shape, [&](HostMatrix& matrix) { return device.address(matrix); });
  const Status status = instance.launch(given, {}, nullptr);
  ASSERT_TRUE(status.is_good()) << line << "\n" << status.sentence();
  wait_or_exit(line);
  device.read_outputs();
  device.read(data.scales);
  const Comparison comparison = compare(data, problem.expected);
  ASSERT_TRUE(comparison.good()) << line << "\n" << comparison.complaint();
}

TEST(RequantisedGpu, QuantisesRandomProductsExactly) {
  if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  Random random(base_seed());
  for (int i = 0; i < 150; ++i) {
    for (const RequantisedInstance* instance : instances_here()) {
      expect_right(*instance, random_shape(*instance, random),
                   i % 3 == 2 ? Fill::Position : Fill::Integers,
                   base_seed() + static_cast<std::uint64_t>(i));
      if (HasFatalFailure()) return;
    }
  }
}

// Several tiles for every CTA.
TEST(RequantisedGpu, QuantisesALargeProduct) {
  if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  for (const RequantisedInstance* instance : instances_here()) {
    RequantisedShape shape = shape_for(*instance);
    shape.product.matmul.m = 2000;
    shape.product.matmul.n = 2100;
    shape.product.matmul.k = 512;
    expect_right(*instance, shape, Fill::Integers, base_seed());
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tw::tests
