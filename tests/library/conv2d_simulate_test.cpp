// The library's convolutions on the virtual GPU, held against the direct convolution.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/families/conv2d_problems.h"
#include "tests/library/of_family.h"
#include "tests/library/types_and_sums.h"
#include "tilewright.hpp"

namespace tw::tests {
namespace {

// The library says which kernel it takes, from the first call on.
const bool logs_calls = setenv("TW_LOG", "info", 1) == 0;

// Problems are of types and a direction, whichever instance computes them.
Conv2dShape small() {
  Conv2dShape shape = shape_for(conv2d_instances()[0]);
  shape.n = 2;
  shape.c = 16;
  shape.k = 24;
  shape.h = Axis{.extent = 7, .filter = 3, .stride = 2, .pad_low = 1};
  shape.w = Axis{.extent = 9, .filter = 2, .dilation = 2, .pad_high = 2};
  return shape;
}
Case case_of(const Conv2dShape& shape, Fill fill, std::uint64_t seed) {
  return case_of(conv2d_instances()[0], shape, fill, seed);
}

void expect_right(const Conv2dShape& shape, const tw_conv2d_options* options = nullptr) {
  const Verified verified(case_of(shape, Fill::Integers, 3));
  HostProblem data = verified.given();
  const auto problem = of_family<tw_conv2d_problem>(*verified.of().trial, data.placed());
  ASSERT_EQ(tw_conv2d_simulate(&problem, options), TW_OK) << tw_message();
  EXPECT_STREQ(tw_message(), "");
  const Comparison comparison = verified.compare(data);
  EXPECT_TRUE(comparison.good()) << comparison.complaint();
}

TEST(SimulateConv2d, EveryTarget) {
  tw_conv2d_options options;
  tw_conv2d_init(nullptr, &options);
  for (const char* target : {"sm80", "sm90a", "sm100a"}) {
    options.target = target;
    expect_right(small(), &options);
  }
}

TEST(SimulateConv2d, WithBiasResidualAndRelu) {
  Conv2dShape shape = small();
  shape.parts.column_bias = true;
  shape.parts.beta = 1.0f;
  shape.parts.activation = Activation::Relu;
  expect_right(shape);
}

// Everything in one group is infinite: the others do not see it, whichever kernel the library
// takes.
TEST(SimulateConv2d, KeepsGroupsApart) {
  Conv2dShape shape = small();
  for (const std::int64_t channels : {1, 4, 8, 16, 32}) {
    shape.groups = 4;
    shape.c = shape.k = 4 * channels;
    const auto run = [](HostProblem& data) {
      const auto problem = of_family<tw_conv2d_problem>(conv2d_trial, data.placed());
      ASSERT_EQ(tw_conv2d_simulate(&problem, nullptr), TW_OK) << tw_message();
    };
    const Verified verified(case_of(shape, Fill::Integers, 3));
    HostProblem plain = verified.given(), data = verified.given();
    run(plain);
    ASSERT_TRUE(verified.compare(plain).good());
    HostMatrix& image = data.tensor(Conv2dFamily::image);
    for (std::int64_t row = 0; row < image.rows; ++row) {
      for (std::int64_t channel = channels; channel < 2 * channels; ++channel) {
        image.set(0, row, channel, std::numeric_limits<double>::infinity());
      }
    }
    run(data);
    const HostMatrix &d = data.tensor(Conv2dFamily::d), &right = plain.tensor(Conv2dFamily::d);
    for (std::int64_t i = 0; i < d.rows * d.columns; ++i) {
      const std::int64_t row = i / d.columns, column = i % d.columns;
      if (column / channels == 1) continue;
      ASSERT_EQ(d.at(0, row, column), right.at(0, row, column))
          << channels << " channels, row " << row << ", column " << column;
    }
  }
}

TEST(SimulateConv2d, AnyChannelsAndGroups) {
  Conv2dShape shape = small();
  shape.c = 3;
  shape.k = 5;
  expect_right(shape);
  shape.c = 12;
  shape.k = 8;
  shape.groups = 4;
  expect_right(shape);
  shape.groups = 12;
  shape.k = 24;
  expect_right(shape);
}

TEST(SimulateConv2d, EveryType) {
  for (const auto& [type, d_type] : types_and_sums) {
    for (const std::int64_t channels : {16, 3}) {
      Conv2dShape shape = small();
      shape.c = channels;
      shape.k = channels + 2;
      shape.type = static_cast<tw_type>(type);
      shape.d_type = static_cast<tw_type>(d_type);
      SCOPED_TRACE(name_of(type));
      expect_right(shape);
    }
  }
}

TEST(SimulateConv2d, Fp16AndThreeSides) {
  Conv2dShape shape = small();
  shape.type = shape.d_type = TW_FP16;
  expect_right(shape);
  shape = small();
  shape.depth = Axis{.extent = 3, .filter = 2, .pad_low = 1};
  expect_right(shape);
}

TEST(SimulateConv2d, Gradients) {
  for (const auto direction : {TW_BACKWARD_DATA, TW_BACKWARD_FILTER}) {
    Conv2dShape shape = small();
    shape.direction = direction;
    expect_right(shape);
  }
}

// Filters of one position that meet every pixel once: products, in all that an epilogue has.
TEST(SimulateConv2d, PointwiseIsAProduct) {
  ASSERT_TRUE(logs_calls);
  const auto logged = [](const Conv2dShape& shape) {
    ::testing::internal::CaptureStderr();
    expect_right(shape);
    return ::testing::internal::GetCapturedStderr();
  };
  Conv2dShape shape = small();
  shape.n = 1;
  shape.h = Axis{.extent = 4};
  shape.w = Axis{.extent = 7};
  shape.depth = Axis{.extent = 2};
  const std::string product = "./tw run matmul --instance ";
  EXPECT_EQ(logged(shape).find(product), 0u);
  shape.parts.column_bias = true;
  shape.parts.bias_type = ElementType::Fp32;
  shape.parts.beta = 1.0f;
  shape.parts.activation = Activation::Relu;
  EXPECT_EQ(logged(shape).find(product), 0u);
  shape.parts = {};
  shape.parts.gated = true;
  EXPECT_EQ(logged(shape).find(product), 0u);
  // Some pixels meet no output, or outputs no pixel, or a group few channels: no product.
  shape.parts = {};
  const std::string convolution = "./tw run conv2d --instance ";
  Conv2dShape other = shape;
  other.h.stride = 2;
  EXPECT_EQ(logged(other).find(convolution), 0u);
  other = shape;
  other.w.pad_high = 1;
  EXPECT_EQ(logged(other).find(convolution), 0u);
  other = shape;
  other.depth = Axis{};
  other.groups = 2;
  EXPECT_EQ(logged(other).find(convolution), 0u);
  other.groups = 1;
  other.direction = TW_BACKWARD_DATA;
  EXPECT_EQ(logged(other).find(convolution), 0u);
}

TEST(SimulateConv2d, FromCpp) {
  const Verified verified(case_of(small(), Fill::Position, 5));
  HostProblem data = verified.given();
  auto problem = initial<tw_conv2d_problem>();
  problem.n = 2;
  problem.c = 16;
  problem.k = 24;
  problem.h = {7, 3, 2, 1, 1, 0};
  problem.w = {9, 2, 1, 2, 0, 2};
  problem.image = data.tensor(Conv2dFamily::image).data();
  problem.filter = data.tensor(Conv2dFamily::filter).data();
  problem.d = data.tensor(Conv2dFamily::d).data();
  simulate(problem);
  const Comparison comparison = verified.compare(data);
  EXPECT_TRUE(comparison.good()) << comparison.complaint();
  problem.h.stride = 0;
  try {
    simulate(problem);
    FAIL() << "Nothing was thrown.";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), TW_INVALID);
    EXPECT_STREQ(error.what(), "The stride along h = 0 must be from 1 to 536870912.");
  }
}

// What is refused: the status and the sentence.
TEST(SimulateConv2d, RefusesWithASentence) {
  HostProblem data(case_of(small(), Fill::Integers, 1));
  const auto refusal = [&](tw_status status, const auto& spoil) {
    tw_conv2d_problem problem = of_family<tw_conv2d_problem>(conv2d_trial, data.placed());
    tw_conv2d_options options;
    tw_conv2d_init(nullptr, &options);
    spoil(problem, options);
    EXPECT_EQ(tw_conv2d_simulate(&problem, &options), status);
    return std::string(tw_message());
  };
  using Problem = tw_conv2d_problem;
  using Options = tw_conv2d_options;
  EXPECT_NE(refusal(TW_INVALID, [](Problem& p, Options&) { p.size = 8; }).find("tw_conv2d_init"),
            std::string::npos);
  EXPECT_EQ(refusal(TW_INVALID, [](Problem& p, Options&) { p.c = 0; }),
            "c = 0 must be from 1 to 2147483391.");
  EXPECT_EQ(refusal(TW_INVALID, [](Problem& p, Options&) { p.groups = 5; }),
            "c = 16 must be a multiple of groups = 5.");
  EXPECT_EQ(refusal(TW_INVALID, [](Problem& p, Options&) { p.image = nullptr; }),
            "The address of the image is null.");
  EXPECT_EQ(refusal(TW_INVALID, [](Problem& p, Options&) { p.d = const_cast<void*>(p.image); }),
            "D begins where the image does, but must have memory of its own.");
  EXPECT_EQ(
      refusal(TW_INVALID, [](Problem& p, Options&) { p.direction = static_cast<tw_direction>(7); }),
      "The direction is 7, but a tw_direction is between 0 and 2.");
  EXPECT_EQ(refusal(TW_INVALID, [](Problem& p, Options&) { p.type = static_cast<tw_type>(9); }),
            "The image has type e2m3, but must be bf16, fp16, fp32, tf32, e4m3, e5m2, s8 or s32.");
  EXPECT_EQ(refusal(TW_INVALID, [](Problem&, Options& o) { o.instance = "zebra"; }),
            "There is no instance 'zebra' of conv2d; ./tw list shows those that there are.");
  EXPECT_EQ(refusal(TW_INVALID, [](Problem&, Options& o) { o.target = "sm42"; }),
            "There is no target 'sm42'; there are sm80, sm90a, sm100a, gfx942 and gfx950.");
  const std::string nearest = refusal(TW_UNSUPPORTED, [](Problem& p, Options&) { p.type = TW_S8; });
  EXPECT_EQ(nearest.find("No compiled kernel computes this convolution on sm90a. The nearest, "),
            0u)
      << nearest;
  EXPECT_EQ(tw_conv2d_simulate(nullptr, nullptr), TW_INVALID);
  EXPECT_STREQ(tw_message(), "The problem is null.");
}

}  // namespace
}  // namespace tw::tests
