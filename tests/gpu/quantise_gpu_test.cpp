// The quantising kernels on the GPU against the host, bit by bit.
#include "src/matmul/gpu.h"
#include "tests/families/quantise_problems.h"
#include "tests/gpu/on_device.h"

namespace tw::tests {
namespace {

std::vector<const QuantiseInstance*> instances_here() {
  std::vector<const QuantiseInstance*> here;
  for (const QuantiseInstance& instance : quantise_instances()) {
    if (runs_here(instance.target)) here.push_back(&instance);
  }
  return here;
}

void expect_right(const QuantiseInstance& instance, const QuantiseShape& shape, Fill fill,
                  std::uint64_t seed) {
  const std::string line = run_line(instance, shape, fill, seed);
  VerifiedQuantise problem(shape, fill, seed);
  MatmulData nothing;
  OnDevice device(nothing);
  QuantiseData& data = problem.data;
  for (HostMatrix* matrix : {&data.source, &data.elements, &data.scales}) device.add(*matrix);
  const QuantiseProblem given =
      quantise_at(data, shape, [&](HostMatrix& matrix) { return device.address(matrix); });
  const Status status = instance.launch(given, nullptr);
  ASSERT_TRUE(status.is_good()) << line << "\n" << status.sentence();
  wait_or_exit(line);
  device.read(data.elements);
  device.read(data.scales);
  const Comparison comparison = compare(data, problem.expected);
  ASSERT_TRUE(comparison.good()) << line << "\n" << comparison.complaint();
}

TEST(QuantiseGpu, IsTheHostsBitByBit) {
  if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  Random random(base_seed());
  for (int i = 0; i < 150; ++i) {
    for (const QuantiseInstance* instance : instances_here()) {
      expect_right(*instance, random_shape(*instance, random), fills[i % 4],
                   base_seed() + static_cast<std::uint64_t>(i));
      if (HasFatalFailure()) return;
    }
  }
}

// Several tiles for every CTA: sets of maxima are used again and again.
TEST(QuantiseGpu, QuantisesALargeMatrix) {
  if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  for (const QuantiseInstance* instance : instances_here()) {
    QuantiseShape shape;
    shape.m = 3001;
    shape.k = 7168;
    shape.scale_rows = instance->scale_rows;
    expect_right(*instance, shape, Fill::Normal, base_seed());
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tw::tests
