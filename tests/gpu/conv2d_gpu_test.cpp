// Convolutions on the GPU against the direct convolution on the host.
#include <gtest/gtest.h>

#include <cstdio>

#include "src/verify/device.h"
#include "src/verify/on_gpu.h"
#include "tests/families/conv2d_problems.h"

namespace tw::tests {
namespace {

void expect_right(const Instance& instance, const Conv2dShape& shape, std::uint64_t seed) {
  const Case made = case_of(instance, shape, Fill::Integers, seed);
  const Result<Comparison> ran = run_on_gpu(Verified(made));
  ASSERT_TRUE(ran.status.is_good()) << run_line(made) << "\n" << ran.status.sentence();
  ASSERT_TRUE(ran.value->good()) << run_line(made) << "\n" << ran.value->complaint();
}

class Conv2dGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    for (const Instance& instance : conv2d_instances()) {
      if (why_not_on_gpu(instance).empty()) instances_.push_back(&instance);
    }
    std::printf("seed %llu (TW_SEED changes it), %zu instances\n",
                static_cast<unsigned long long>(base_seed()), instances_.size());
  }
  std::vector<const Instance*> instances_;
};

// More tiles than the device runs at once, with a residual; channels end within a k-tile.
TEST_F(Conv2dGpu, ComputesManyTilesExactly) {
  for (const Instance* instance : instances_) {
    Conv2dShape shape = shape_for(*instance);
    shape.n = 17;
    shape.c = 48;
    shape.k = 136;
    shape.h = Axis{.extent = 28, .filter = 3, .pad_low = 1, .pad_high = 1};
    shape.w = Axis{.extent = 27, .filter = 3, .pad_low = 1, .pad_high = 1};
    if (shape.direction == TW_FORWARD) {
      shape.parts.column_bias = true;
      if (shape.d_type != TW_S32) {  // no residual has s32
        shape.parts.beta = 1.0f;
        shape.parts.source_type = static_cast<ElementType>(shape.d_type);
      }
    }
    expect_right(*instance, suited(*instance, shape), base_seed());
    if (HasFatalFailure()) return;
  }
}

// In vectors of channels: several blocks of columns, every size of filter that has code of its own,
// lines that end within a strip; once with more tiles than an H200 has CTAs for.
TEST_F(Conv2dGpu, ComputesManyDepthwiseTilesExactly) {
  for (const Instance* instance : instances_) {
    if (!facts_of_conv2d(*instance).depthwise) continue;
    for (const std::int64_t taps : {3, 4, 5, 7}) {
      for (const std::int64_t stride : {1, 2}) {
        Conv2dShape shape = shape_for(*instance);
        shape.n = taps == 3 && stride == 1 ? 24 : 2;
        shape.c = shape.k = shape.groups = 144;
        shape.h = Axis{.extent = 56, .filter = taps, .stride = stride, .pad_low = 1, .pad_high = 2};
        shape.w = Axis{.extent = 57, .filter = taps, .stride = stride, .pad_low = 2, .pad_high = 1};
        shape.parts.column_bias = taps == 5;
        expect_right(*instance, shape, base_seed());
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace tw::tests
