// The library's convolutions on the virtual GPU, held against the direct convolution.
#include <gtest/gtest.h>

#include "tests/library/conv2d_problem.h"
#include "tilewright/conv2d.h"

namespace tw::tests {
namespace {

Conv2dShape small() {
  Conv2dShape shape;
  shape.n = 2;
  shape.c = 16;
  shape.k = 24;
  shape.h = {.extent = 7, .filter = 3, .stride = 2, .dilation = 1, .pad_low = 1, .pad_high = 0};
  shape.w = {.extent = 9, .filter = 2, .stride = 1, .dilation = 2, .pad_low = 0, .pad_high = 2};
  return shape;
}

void expect_right(const Conv2dShape& shape, const tw_conv2d_options* options = nullptr) {
  MatmulData data = make_conv2d_data(shape, Fill::Integers, 3);
  const tw_conv2d_problem problem = c_problem_on_host(data, shape);
  ASSERT_EQ(tw_conv2d_simulate(&problem, options), TW_OK) << tw_message();
  EXPECT_STREQ(tw_message(), "");
  const Comparison comparison = compare(data, direct_convolution(data, shape));
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
  shape.epilogue.column_bias = true;
  shape.epilogue.beta = 1.0f;
  shape.epilogue.source_type = shape.d_type;
  shape.epilogue.activation = Activation::Relu;
  expect_right(shape);
}

// Of one group, everything is infinite: the others do not see it, whichever kernel the library
// takes.
TEST(SimulateConv2d, KeepsGroupsApart) {
  Conv2dShape shape = small();
  for (const std::int64_t channels : {1, 4, 8, 16, 32}) {
    shape.groups = 4;
    shape.c = shape.k = 4 * channels;
    MatmulData data = make_conv2d_data(shape, Fill::Integers, 3);
    const MatmulReference reference = direct_convolution(data, shape);
    for (std::int64_t i = 0; i < data.a.rows * data.a.columns; ++i) {
      const std::int64_t channel = i % data.a.columns % shape.c;
      if (channel / channels == 1) {
        data.a.set(0, i / data.a.columns, i % data.a.columns,
                   std::numeric_limits<double>::infinity());
      }
    }
    const tw_conv2d_problem problem = c_problem_on_host(data, shape);
    ASSERT_EQ(tw_conv2d_simulate(&problem, nullptr), TW_OK) << tw_message();
    for (std::int64_t i = 0; i < data.d.rows * data.d.columns; ++i) {
      const std::int64_t column = i % data.d.columns;
      if (column / channels == 1) continue;
      ASSERT_EQ(data.d.at(0, i / data.d.columns, column), reference.d[i].value)
          << channels << " channels, row " << i / data.d.columns << ", column " << column;
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

TEST(SimulateConv2d, Fp16AndThreeSides) {
  Conv2dShape shape = small();
  shape.type = shape.d_type = ElementType::Fp16;
  expect_right(shape);
  shape = small();
  shape.depth = {.extent = 3, .filter = 2, .pad_low = 1};
  expect_right(shape);
}

TEST(SimulateConv2d, Gradients) {
  for (const auto direction : {Conv2dDirection::BackwardData, Conv2dDirection::BackwardFilter}) {
    Conv2dShape shape = small();
    shape.direction = direction;
    expect_right(shape);
  }
}

TEST(SimulateConv2d, FromCpp) {
  const Conv2dShape shape = small();
  MatmulData data = make_conv2d_data(shape, Fill::Position, 5);
  Conv2dView view;
  view.n = 2;
  view.c = 16;
  view.k = 24;
  view.h = {7, 3, 2, 1, 1, 0};
  view.w = {9, 2, 1, 2, 0, 2};
  conv2d_on_virtual_gpu(view, data.a.data(), data.b.data(), data.d.data());
  const Comparison comparison = compare(data, direct_convolution(data, shape));
  EXPECT_TRUE(comparison.good()) << comparison.complaint();
  view.h.stride = 0;
  try {
    conv2d_on_virtual_gpu(view, data.a.data(), data.b.data(), data.d.data());
    FAIL() << "Nothing was thrown.";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), TW_INVALID);
    EXPECT_STREQ(error.what(), "The stride along h = 0 must be from 1 to 536870912.");
  }
}

// What is refused: the status and the sentence.
TEST(SimulateConv2d, RefusesWithASentence) {
  Conv2dShape shape = small();
  MatmulData data = make_conv2d_data(shape, Fill::Integers, 1);
  const auto refusal = [&](tw_status status, const auto& spoil) {
    tw_conv2d_problem problem = c_problem_on_host(data, shape);
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
            "The type of the image is 9, but a tw_type is between 0 and 7.");
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
