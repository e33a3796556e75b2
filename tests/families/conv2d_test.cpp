#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/families/conv2d_problems.h"
#include "tests/families/schedule.h"
#include "tilewright/io/divisor.h"

namespace tw::tests {
namespace {

void expect_clean(const Instance& instance, const Conv2dShape& given, Fill fill,
                  std::uint64_t seed) {
  const Case made = case_of(instance, suited(instance, given), fill, seed);
  const VirtualRun run = run_virtually(Verified(made), schedule(seed, instance.cluster));
  ASSERT_TRUE(run.clean()) << run_line(made) << "\n" << run.complaint();
  EXPECT_TRUE(run.comparison.exact || fill == Fill::Normal) << run_line(made);
}

TEST(Conv2d, ComputesRandomProblemsExactlyOnTheVirtualGpu) {
  Random random(base_seed());
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  const char* count = std::getenv("TW_CONV2D_PROBLEMS");
  const int problems = count != nullptr ? std::atoi(count) : 320;
  for (int i = 0; i < problems; ++i) {
    const auto instances = conv2d_instances();
    const Instance& instance = instances[static_cast<std::size_t>(i) % instances.size()];
    const Conv2dShape shape = random_shape(instance, random);
    expect_clean(instance, shape, i % 3 == 2 ? Fill::Position : Fill::Integers,
                 base_seed() + static_cast<std::uint64_t>(i));
    if (HasFatalFailure()) return;
  }
}

TEST(Conv2d, KeepsRandomDataWithinTheDerivedBound) {
  Random random(base_seed() + 1);
  for (const Instance& instance : conv2d_instances()) {
    expect_clean(instance, random_shape(instance, random), Fill::Normal, base_seed());
  }
}

// Everything different along h and w, so that no two of them can be swapped unnoticed.
TEST(Conv2d, TellsHFromW) {
  for (const Instance& instance : conv2d_instances()) {
    Conv2dShape shape = shape_for(instance);
    shape.n = 3;
    shape.c = 9 * piece_of(shape);
    shape.k = 40;
    shape.h =
        Axis{.extent = 9, .filter = 3, .stride = 2, .dilation = 1, .pad_low = 2, .pad_high = 0};
    shape.w =
        Axis{.extent = 14, .filter = 2, .stride = 1, .dilation = 3, .pad_low = 0, .pad_high = 1};
    expect_clean(instance, shape, Fill::Position, 7);
    if (HasFatalFailure()) return;
  }
}

// One-dimensional ones are those whose h is 1.
TEST(Conv2d, TakesLines) {
  Random random(base_seed() + 2);
  for (const Instance& instance : conv2d_instances()) {
    Conv2dShape shape = random_shape(instance, random);
    shape.h = Axis{};
    expect_clean(instance, shape, Fill::Integers, base_seed());
    if (HasFatalFailure()) return;
  }
}

TEST(Conv2d, TakesDepths) {
  Random random(base_seed() + 3);
  for (const Instance& instance : conv2d_instances()) {
    if (facts_of_conv2d(instance).spans_groups) continue;  // takes two sides only
    for (const Fill fill : {Fill::Position, Fill::Integers}) {
      Conv2dShape shape = random_shape(instance, random);
      shape.n = 2;
      shape.c = 9 * piece_of(shape);
      shape.groups = 1;
      shape.h = Axis{.extent = 5, .filter = 2, .pad_low = 1};
      shape.w = Axis{.extent = 7, .filter = 3, .stride = 2, .pad_low = 1, .pad_high = 2};
      shape.depth = Axis{.extent = 6, .filter = 2, .stride = 2, .dilation = 3, .pad_high = 2};
      expect_clean(instance, shape, fill, base_seed());
      if (HasFatalFailure()) return;
    }
  }
}

// Alone in the padding, beyond the image's end, and with one pixel only.
TEST(Conv2d, ReadsZerosOutsideOfTheImage) {
  for (const Instance& instance : conv2d_instances()) {
    Conv2dShape shape = shape_for(instance);
    shape.c = piece_of(shape);
    shape.k = 8;
    shape.h =
        Axis{.extent = 1, .filter = 3, .stride = 3, .dilation = 3, .pad_low = 8, .pad_high = 9};
    shape.w =
        Axis{.extent = 2, .filter = 1, .stride = 8, .dilation = 1, .pad_low = 1, .pad_high = 40};
    expect_clean(instance, shape, Fill::Integers, 1);
    if (HasFatalFailure()) return;
  }
}

// Channels that fill up a k-tile are neither loaded nor multiplied: every number of them, of one
// k-tile and of two. What shared memory has in their place, nobody reads.
TEST(Conv2d, CountsChannels) {
  int tried = 0;
  for (const Instance& instance : conv2d_instances()) {
    if (!facts_of_conv2d(instance).counts_channels) continue;
    for (std::int64_t channels = 8; channels <= 128; channels += 8) {
      Conv2dShape shape = shape_for(instance);
      shape.c = channels;
      shape.k = 40;
      shape.h = Axis{.extent = 5, .filter = 2, .stride = 2, .pad_low = 1, .pad_high = 0};
      shape.w = Axis{.extent = 6, .filter = 3, .stride = 1, .pad_low = 1, .pad_high = 1};
      expect_clean(instance, shape, channels % 16 == 0 ? Fill::Position : Fill::Integers, 5);
      if (HasFatalFailure()) return;
      ++tried;
    }
    // A product's channels are of one group.
    Conv2dShape grouped = shape_for(instance);
    grouped.w = Axis{.extent = 6, .filter = 3};
    grouped.c = grouped.k = 16;
    grouped.groups = 2;
    EXPECT_EQ(refusal_of(instance, grouped),
              "c / groups = 8 must be a multiple of 16 where TMA copies groups.");
  }
  EXPECT_GT(tried, 0);
  std::printf("%d problems\n", tried);
}

// A network's first layer: three channels and a filter of 7 by 7 are three k-tiles, not 49.
TEST(Conv2d, PacksFewChannels) {
  for (const Instance& instance : conv2d_instances()) {
    if (!facts_of_conv2d(instance).by_threads || facts_of_conv2d(instance).depthwise) continue;
    for (const std::int64_t channels : {1, 3, 4}) {
      Conv2dShape shape = shape_for(instance);
      shape.n = 2;
      shape.c = channels;
      shape.k = 64;
      shape.h = Axis{.extent = 17, .filter = 7, .stride = 2, .pad_low = 3, .pad_high = 2};
      shape.w = Axis{.extent = 20, .filter = 7, .stride = 2, .pad_low = 2, .pad_high = 3};
      expect_clean(instance, shape, channels == 4 ? Fill::Position : Fill::Integers, 3);
      if (HasFatalFailure()) return;
    }
  }
}

// What is cut into patches has as many channels as a line of a patch, and TMA may bring them; h and
// w differ, and only one of them is cut in the second and the third.
TEST(Conv2d, CutsPatches) {
  const Axis cut_h = {.extent = 9, .filter = 3, .stride = 3};
  const Axis cut_w = {.extent = 64, .filter = 16, .stride = 16};
  const Axis padded_h = {.extent = 8, .filter = 3, .stride = 3, .pad_low = 1};
  for (const Instance& instance : conv2d_instances()) {
    if (direction_of(config_of(instance)) != TW_FORWARD || facts_of_conv2d(instance).depthwise)
      continue;
    if (takes_full_tiles_of_groups(instance)) continue;  // its strides end at TMA's 8
    if (facts_of_conv2d(instance).by_lines) continue;    // it has none
    Conv2dShape shape = shape_for(instance);
    shape.n = 2;
    shape.c = 3;
    shape.k = 40;
    for (const auto& [h, w] : {std::pair{cut_h, cut_w}, std::pair{padded_h, cut_w},
                               std::pair{cut_h, Axis{.extent = 32, .filter = 16, .stride = 8}}}) {
      shape.h = h;
      shape.w = w;
      if (!facts_of_conv2d(instance).by_threads && w.stride != w.filter) continue;  // 3 channels
      expect_clean(instance, shape, Fill::Position, 11);
      if (HasFatalFailure()) return;
    }
  }
}

// Groups that share a tile: of channels that are vectors, halves of them, and single ones; of more
// groups than a tile has, of several filters for each channel, and at the edge of what is stored.
TEST(Conv2d, PutsGroupsTogether) {
  struct Groups {
    std::int64_t groups, c, k;  // one group's c and k
    std::int64_t together;      // where tiles have 64 columns
  };
  const Groups all[] = {{8, 16, 16, 4}, {32, 4, 4, 16}, {6, 8, 24, 2},  {9, 5, 7, 9},
                        {21, 1, 3, 21}, {4, 48, 48, 1}, {2, 112, 40, 1}};
  for (const Instance& instance : conv2d_instances()) {
    if (!facts_of_conv2d(instance).spans_groups || takes_full_tiles_of_groups(instance)) continue;
    for (const Groups& given : all) {
      Conv2dShape shape = shape_for(instance);
      shape.n = 2;
      shape.groups = given.groups;
      shape.c = given.groups * given.c;
      shape.k = given.groups * given.k;
      shape.h = Axis{.extent = 9, .filter = 3, .stride = 2, .pad_low = 1, .pad_high = 1};
      shape.w = Axis{.extent = 13, .filter = 2, .dilation = 2, .pad_low = 1};
      shape.parts.column_bias = true;
      if (config_of(instance).tiling.n == 64) {
        EXPECT_EQ(groups_together(shape, facts_of_conv2d(instance)), given.together);
      }
      expect_clean(instance, shape, given.c > 8 ? Fill::Position : Fill::Integers, 13);
      if (HasFatalFailure()) return;
    }
  }
}

// Lines of filters whose channels are no whole words: they begin in either half of a word, reach
// over either end of the image's lines, lie wholly beside them, and end with the image.
TEST(Conv2d, CopiesLinesOfFilters) {
  struct Line {
    std::int64_t c, extent, filter, stride, pad_low, pad_high;
  };
  const Line all[] = {{3, 12, 3, 1, 1, 1}, {3, 15, 7, 2, 3, 2}, {1, 14, 3, 1, 2, 5},
                      {5, 9, 2, 2, 6, 3},  {9, 7, 1, 1, 0, 0},  {3, 2, 2, 1, 1, 9}};
  for (const Instance& instance : conv2d_instances()) {
    if (!facts_of_conv2d(instance).spans_groups || takes_full_tiles_of_groups(instance)) continue;
    for (const Line& given : all) {
      Conv2dShape shape = shape_for(instance);
      shape.n = 2;
      shape.c = given.c;
      shape.k = 70;
      shape.h = Axis{.extent = 6, .filter = 3, .dilation = 2, .pad_low = 2, .pad_high = 1};
      shape.w = {given.extent, given.filter, given.stride, 1, given.pad_low, given.pad_high};
      EXPECT_TRUE(by_lines(shape));
      expect_clean(instance, shape, Fill::Position, 17);
      if (HasFatalFailure()) return;
      // A last word that is only half in memory is none.
      shape.n = 1;
      shape.h.extent = 5;
      EXPECT_EQ(by_lines(shape), given.extent % 2 == 0);
      expect_clean(instance, shape, Fill::Integers, 18);
      if (HasFatalFailure()) return;
    }
  }
}

// Whole tiles of groups of every size; what shares no tile, or does not fill one, is refused.
TEST(Conv2d, FillsTilesWithGroups) {
  for (const Instance& instance : conv2d_instances()) {
    if (!takes_full_tiles_of_groups(instance)) continue;
    Conv2dShape shape = shape_for(instance);
    shape.n = 3;
    shape.h = Axis{.extent = 9, .filter = 3, .stride = 2, .pad_low = 1, .pad_high = 1};
    shape.w = Axis{.extent = 13, .filter = 2, .dilation = 2, .pad_low = 1};
    for (const std::int64_t channels : {2, 4, 8, 16, 32}) {
      make_full_tiles_of_groups(shape, channels, 3, channels);
      expect_clean(instance, shape, channels > 8 ? Fill::Position : Fill::Integers, 13);
      if (HasFatalFailure()) return;
      make_full_tiles_of_groups(shape, channels, 1, channels - 1);
      expect_clean(instance, shape, Fill::Integers, 14);
      if (HasFatalFailure()) return;
    }
    make_full_tiles_of_groups(shape, 64, 2, 64);
    EXPECT_EQ(
        refusal_of(instance, shape),
        "A tile takes 1 groups of together 64 channels; several must have 64 in this kernel.");
    make_full_tiles_of_groups(shape, 16, 2, 40);
    EXPECT_NE(refusal_of(instance, shape), "");
  }
}

struct Rectangle {
  std::int64_t rows, columns;
  std::int64_t groups;       // it holds what belongs to the second of so many,
  bool by_rows, by_columns;  // which lie along these
  bool holds(std::int64_t row, std::int64_t column) const {
    return (!by_rows || row / (rows / groups) == 1) &&
           (!by_columns || column / (columns / groups) == 1);
  }
};

// What is infinite in one group must not reach another, not even multiplied by zero.
void expect_groups_apart(const Instance& instance, std::int64_t channels) {
  Conv2dShape shape = shape_for(instance);
  const bool of_data = shape.direction == TW_BACKWARD_DATA;
  const bool of_filter = shape.direction == TW_BACKWARD_FILTER;
  // By TMA, what is summed up is whole k-tiles of each group.
  shape.c = 3 * (of_data && !facts_of_conv2d(instance).by_threads ? 8 : channels);
  shape.k = of_data ? 3 * channels : channels == 1 ? 3 : 27;
  shape.groups = 3;
  if (takes_full_tiles_of_groups(instance)) make_full_tiles_of_groups(shape, channels, 2, channels);
  shape.h = Axis{.extent = 5, .filter = 3, .stride = 2, .pad_low = 1, .pad_high = 1};
  shape.w = Axis{.extent = 6, .filter = 3, .pad_low = 1, .pad_high = 1};
  const Case made = case_of(instance, suited(instance, shape), Fill::Integers, 4);
  const Verified verified(made);
  HostProblem data = verified.given();
  const Ran plain = run_with(instance, data);
  ASSERT_TRUE(plain.status.is_good() && verified.compare(plain.data).good()) << run_line(made);
  // The group in the middle is infinite, in both operands; of 8 bits, where what is too large
  // becomes the largest number, and of five channels no number.
  using Limits = std::numeric_limits<double>;
  const bool of_8_bits = bits_in(static_cast<ElementType>(shape.type)) == 8;
  const double infinite = of_8_bits || channels == 5 ? Limits::quiet_NaN() : Limits::infinity();
  const auto fill = [&](HostMatrix& matrix, bool by_rows) {
    const Rectangle infinities = {matrix.rows, matrix.columns, shape.groups, by_rows, !by_rows};
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      for (std::int64_t column = 0; column < matrix.columns; ++column) {
        if (infinities.holds(row, column)) matrix.set(0, row, column, infinite);
      }
    }
  };
  fill(data.tensor(Conv2dFamily::image), false);
  fill(data.tensor(Conv2dFamily::filter), !of_filter);
  const Ran run = run_with(instance, data);
  ASSERT_TRUE(run.status.is_good()) << run.status.sentence();
  const HostMatrix& d = plain.data.tensor(Conv2dFamily::d);
  const Rectangle group = {d.rows, d.columns, shape.groups, of_filter, !of_filter};
  for (std::int64_t row = 0; row < d.rows; ++row) {
    for (std::int64_t column = 0; column < d.columns; ++column) {
      const double value = run.data.tensor(Conv2dFamily::d).at(0, row, column);
      if (group.holds(row, column)) {
        ASSERT_FALSE(std::isfinite(value)) << instance.name << " " << row << " " << column;
      } else {
        ASSERT_EQ(value, d.at(0, row, column)) << instance.name << " " << row << " " << column;
      }
    }
  }
}

TEST(Conv2d, KeepsGroupsApart) {
  for (const Instance& instance : conv2d_instances()) {
    const bool of_filter = direction_of(config_of(instance)) == TW_BACKWARD_FILTER;
    if (facts_of_conv2d(instance).depthwise || (of_filter && !facts_of_conv2d(instance).by_threads))
      continue;
    if (config_of(instance).tiling.a_type == ElementType::S8) continue;  // all are finite
    // By cp.async, element by element, and depthwise; or by TMA. Three groups of fewer channels
    // than 22 may be one tile's.
    const std::int64_t whole = config_of(instance).tiling.k();
    using Channels = std::vector<std::int64_t>;
    for (const std::int64_t channels : takes_full_tiles_of_groups(instance) ? Channels{4, 16}
                                       : facts_of_conv2d(instance).spans_groups
                                           ? Channels{40, 33, 16, 5, 2}
                                       : facts_of_conv2d(instance).by_threads ? Channels{8, 6, 1}
                                       : facts_of_conv2d(instance).counts_channels
                                           ? Channels{whole, 16, 80}
                                           : Channels{whole}) {
      expect_groups_apart(instance, channels);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Conv2d, DivisorsDivide) {
  Random random(base_seed());
  const auto most = (1u << 31) - 1;
  for (int i = 0; i < 200'000; ++i) {
    const auto any = [&] { return static_cast<unsigned>(random() % (2u << random() % 31)); };
    const unsigned divisor = std::max(1u, std::min(any(), most));
    const Divisor by(divisor);
    const unsigned near = divisor * (any() % (most / divisor + 1));
    for (const unsigned x : {std::min(any(), most), near, near == 0 ? most : near - 1, most}) {
      const auto [quotient, remainder] = by.divide(x);
      ASSERT_EQ(quotient, x / divisor) << x << " / " << divisor;
      ASSERT_EQ(remainder, x % divisor) << x << " / " << divisor;
    }
  }
}

TEST(Conv2d, EmptyProblemsAreDone) {
  const Instance& instance = conv2d_instances()[0];
  for (int i = 0; i < 3; ++i) {
    Conv2dShape shape = shape_for(instance);
    shape.c = 8;
    if (i == 0) shape.n = 0;
    if (i == 1) shape.k = 0;
    if (i == 2) shape.h.filter = 3;  // more than there is
    tw_conv2d_problem problem = shape;
    Checked checked;
    ASSERT_TRUE(check(checked, Conv2dFamily::description, &problem).is_good()) << i;
    EXPECT_TRUE(checked.is_empty());
    vgpu::Report report;
    EXPECT_TRUE(instance.simulate(checked, {}, {}, report).is_good()) << i;
  }
}

const Instance& first_of(tw_direction direction) {
  const auto instances = conv2d_instances();
  return *std::find_if(instances.begin(), instances.end(), [&](const Instance& instance) {
    return direction_of(config_of(instance)) == direction;
  });
}

// No pixel of the image is met at all, only some are, or there is no D.
TEST(Conv2d, WhatNothingMeetsHasNoGradient) {
  for (const Instance& instance : conv2d_instances()) {
    Conv2dShape shape = shape_for(instance);
    if (shape.direction == TW_FORWARD) continue;
    shape.c = shape.k = 16;
    shape.h = Axis{.extent = 9, .filter = 2, .stride = 4, .dilation = 2};
    shape.w = Axis{.extent = 7, .filter = 1, .stride = 3, .pad_low = 1, .pad_high = 2};
    expect_clean(instance, shape, Fill::Integers, 1);
    if (HasFatalFailure()) return;
    shape.h.filter = 6;  // further than the image reaches
    expect_clean(instance, shape, Fill::Integers, 1);
    if (HasFatalFailure()) return;
  }
}

// Kernels whose sums begin at C and the bias have nothing behind the sums but relu.
TEST(Conv2d, SumsThatBeginAtCRefuseOtherEpilogues) {
  unsigned begun = 0;
  for (const Instance& instance : conv2d_instances()) {
    if (config_of(instance).initial_c == 0) continue;
    ++begun;
    Conv2dShape shape = shape_for(instance);
    shape.n = 2;
    shape.c = 16;
    shape.k = 200;
    shape.h = shape.w = Axis{.extent = 12, .filter = 3, .pad_low = 1, .pad_high = 1};
    shape.parts.beta = 1.0f;
    shape.parts.column_bias = true;
    shape.parts.activation = Activation::Relu;
    for (const ElementType bias : {ElementType::Bf16, ElementType::Fp32}) {
      shape.parts.bias_type = bias;
      const Case made = case_of(instance, shape, Fill::Integers, 5);
      const VirtualRun run = run_virtually(Verified(made), schedule(5, instance.cluster));
      ASSERT_TRUE(run.clean() && run.comparison.exact) << run_line(made) << "\n" << run.complaint();
    }
    const HostProblem data(case_of(instance, shape, Fill::Integers, 5));
    const auto refusal = [&](const auto& change) {
      return run_with(instance, data, change).status.sentence();
    };
    using P = tw_conv2d_problem;
    const std::string sentence =
        "This kernel's sums begin at C and a bias of columns: alpha and beta must be 1, C of D's "
        "type, n even and pairs of columns aligned, and behind the sums is relu or nothing.";
    EXPECT_EQ(refusal([](P& p) { p.epilogue.alpha = 2.0f; }), sentence);
    EXPECT_EQ(refusal([](P& p) { p.epilogue.beta = 2.0f; }), sentence);
    EXPECT_EQ(refusal([](P& p) { p.epilogue.activation = TW_SILU; }), sentence);
    EXPECT_EQ(refusal([](P& p) { p.k = 199; }), sentence);
  }
  EXPECT_GT(begun, 0u);
}

TEST(Conv2d, RefusesGradientsWithASentence) {
  const auto refusal = [&](tw_direction direction, const auto& change) {
    const Instance& instance = first_of(direction);
    Conv2dShape shape = shape_for(instance);
    shape.c = shape.k = 16;
    shape.w.extent = shape.h.extent = 4;
    const Case made = case_of(instance, shape, Fill::Integers, 4);
    return run_with(instance, HostProblem(made), change).status.sentence();
  };
  using P = tw_conv2d_problem;
  const auto data = TW_BACKWARD_DATA, filter = TW_BACKWARD_FILTER;
  EXPECT_EQ(refusal(data, [](P&) {}), "");
  EXPECT_EQ(refusal(filter, [](P&) {}), "");
  EXPECT_EQ(refusal(data, [](P& p) { p.direction = TW_FORWARD; }),
            "B is K-major; this kernel reads it MN-major.");
  EXPECT_EQ(refusal(data, [](P& p) { p.w.stride = 9; }),
            "The stride along w = 9 must be from 1 to 8.");
  EXPECT_EQ(refusal(data, [](P& p) { p.k = 12; }),
            "The lines of A (pitch 12 elements) begin at multiples of 8 bytes; this kernel needs "
            "multiples of 16.");
  EXPECT_EQ(refusal(data, [](P& p) { p.w.stride = p.h.stride = p.depth.stride = 8; }), "");
  const auto in_groups = [](P& p) { p.groups = 2; };
  EXPECT_EQ(refusal(data, in_groups),
            "k / groups = 8 must be a multiple of 64 where TMA copies groups.");
  EXPECT_EQ(refusal(filter, in_groups),
            "groups = 2 must be 1 where TMA brings pixels for the gradient of a filter.");
  EXPECT_EQ(
      refusal(filter, [](P& p) { p.epilogue.gated = true; }),
      "A gate needs pairs of columns, which neither groups (groups = 1) nor the gradient of a "
      "filter leave together.");
}

TEST(Conv2d, RefusesWithASentence) {
  const Instance& instance = conv2d_instances()[0];
  const auto refusal = [&](const auto& change) {
    Conv2dShape shape = shape_for(instance);
    shape.c = 16;
    shape.k = 8;
    const Case made = case_of(instance, shape, Fill::Integers, 4);
    return run_with(instance, HostProblem(made), change).status.sentence();
  };
  using P = tw_conv2d_problem;
  EXPECT_EQ(refusal([](P&) {}), "");
  EXPECT_EQ(refusal([](P& p) { p.c = 0; }), "c = 0 must be from 1 to 2147483391.");
  EXPECT_EQ(refusal([](P& p) { p.h.extent = 0; }),
            "The image along h = 0 must be from 1 to 536870912.");
  EXPECT_EQ(refusal([](P& p) { p.w.stride = 9; }), "The stride along w = 9 must be from 1 to 8.");
  EXPECT_EQ(refusal([](P& p) { p.w.pad_low = 129; }),
            "The lower padding along w = 129 must be from -127 to 128.");
  EXPECT_EQ(refusal([](P& p) {
              p.h.extent = 500;
              p.h.filter = 5;
              p.h.dilation = 100;
            }),
            "(filter - 1) * dilation along h = 400 must be from 0 to 255.");
  EXPECT_EQ(refusal([](P& p) { p.h.pad_high = 128; }),
            "The upper padding less (filter - 1) * dilation along h = 128 must be from -128 to "
            "127.");
  EXPECT_EQ(refusal([](P& p) {
              p.h.filter = p.w.filter = 7;
              p.c = 1 << 26;
            }),
            "r * s * c = 3288334336 must be from 1 to 2147483391.");
  EXPECT_EQ(refusal([](P& p) { p.groups = 0; }), "groups = 0 must be from 1 to 2147483391.");
  EXPECT_EQ(refusal([](P& p) { p.groups = 5; }), "c = 16 must be a multiple of groups = 5.");
  EXPECT_EQ(refusal([](P& p) { p.groups = 16; }), "k = 8 must be a multiple of groups = 16.");
  EXPECT_EQ(refusal([](P& p) { p.groups = 2; }),
            "c / groups = 8 must be a multiple of 64 where TMA copies groups.");
  EXPECT_EQ(
      refusal([](P& p) {
        p.groups = 2;
        p.epilogue.gated = true;
      }),
      "A gate needs pairs of columns, which neither groups (groups = 2) nor the gradient of a "
      "filter leave together.");
  EXPECT_EQ(refusal([](P& p) {
              p.depth.filter = p.depth.extent = 2;
              p.w.pad_low = 17;
            }),
            "The lower padding along w = 17 must be from -15 to 16.");
  EXPECT_EQ(refusal([](P& p) { p.c = 12; }),
            "The lines of A (pitch 12 elements) begin at multiples of 8 bytes; this kernel needs "
            "multiples of 16.");
  EXPECT_EQ(refusal([](P& p) { p.type = TW_FP16; }),
            "A has type fp16; this kernel multiplies bf16.");
  EXPECT_EQ(refusal([](P& p) { p.d = nullptr; }), "The address of D is null.");
  EXPECT_EQ(refusal([](P& p) { p.image = nullptr; }), "The address of the image is null.");
  EXPECT_EQ(refusal([](P& p) {
              p.n = 1 << 20;
              p.h.extent = p.w.extent = 1 << 10;
            }),
            "n * p * q = 1099511627776 must be from 0 to 2147483391.");
}

}  // namespace
}  // namespace tw::tests
