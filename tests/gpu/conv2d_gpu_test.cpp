// Convolutions on the GPU against the direct convolution on the host.
#include <gtest/gtest.h>

#include <cstdio>

#include "src/matmul/gpu.h"
#include "tests/families/conv2d_problems.h"
#include "tests/gpu/on_device.h"

namespace tw::tests {
namespace {

void expect_right(const Conv2dInstance& instance, const Conv2dShape& shape, Fill fill,
                  std::uint64_t seed) {
  const MatmulOrder order = order_for(instance, seed);
  const std::string line = run_line(instance, shape, fill, seed, order);
  VerifiedConv2d problem(shape, fill, seed);
  OnDevice device(problem.data);
  const Conv2dProblem given =
      conv2d_at(problem.data, shape, [&](HostMatrix& matrix) { return device.address(matrix); });
  std::size_t bytes = 0;
  Status status = instance.workspace(bytes, given, order);
  const DeviceWorkspace workspace(bytes);
  if (status.is_good()) status = instance.launch(given, order, workspace.given(), nullptr);
  ASSERT_TRUE(status.is_good()) << line << "\n" << status.sentence();
  wait_or_exit(line);
  device.read_outputs();
  const Comparison comparison = compare(problem.data, problem.reference);
  ASSERT_TRUE(comparison.good()) << line << "\n" << comparison.complaint();
}

class Conv2dGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    for (const Conv2dInstance& instance : conv2d_instances()) {
      if (runs_here(instance.target)) instances_.push_back(&instance);
    }
    std::printf("seed %llu (TW_SEED changes it), %zu instances\n",
                static_cast<unsigned long long>(base_seed()), instances_.size());
  }
  std::vector<const Conv2dInstance*> instances_;
};

TEST_F(Conv2dGpu, ComputesRandomProblemsExactly) {
  Random random(base_seed());
  for (int i = 0; i < 100; ++i) {
    for (const Conv2dInstance* instance : instances_) {
      expect_right(*instance, random_shape(*instance, random),
                   i % 3 == 2 ? Fill::Position : Fill::Integers,
                   base_seed() + static_cast<std::uint64_t>(i));
      if (HasFatalFailure()) return;
    }
  }
}

// More tiles than the device runs at once, with a residual; channels end within a k-tile.
TEST_F(Conv2dGpu, ComputesManyTilesExactly) {
  for (const Conv2dInstance* instance : instances_) {
    Conv2dShape shape = shape_for(*instance);
    shape.n = 17;
    shape.c = 48;
    shape.k = 136;
    shape.h = {.extent = 28, .filter = 3, .pad_low = 1, .pad_high = 1};
    shape.w = {.extent = 27, .filter = 3, .pad_low = 1, .pad_high = 1};
    if (shape.direction == Conv2dDirection::Forward) {
      shape.epilogue.column_bias = true;
      shape.epilogue.beta = 1.0f;
      shape.epilogue.source_type = shape.d_type;
    }
    expect_right(*instance, suited(*instance, shape), Fill::Integers, base_seed());
    if (HasFatalFailure()) return;
  }
}

// In vectors of channels: several blocks of columns, every size of filter that has code of its own,
// lines that end within a strip; once with more tiles than an H200 has CTAs for.
TEST_F(Conv2dGpu, ComputesManyDepthwiseTilesExactly) {
  for (const Conv2dInstance* instance : instances_) {
    if (!instance->depthwise) continue;
    for (const std::int64_t taps : {3, 4, 5, 7}) {
      for (const std::int64_t stride : {1, 2}) {
        Conv2dShape shape = shape_for(*instance);
        shape.n = taps == 3 && stride == 1 ? 24 : 2;
        shape.c = shape.k = shape.groups = 144;
        shape.h = {.extent = 56, .filter = taps, .stride = stride, .pad_low = 1, .pad_high = 2};
        shape.w = {.extent = 57, .filter = taps, .stride = stride, .pad_low = 2, .pad_high = 1};
        shape.epilogue.column_bias = taps == 5;
        expect_right(*instance, shape, Fill::Integers, base_seed());
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace tw::tests
