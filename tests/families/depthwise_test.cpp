// Depthwise convolutions on the streaming skeleton, against the direct convolution.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "src/families/conv2d_choice.h"
#include "tests/families/conv2d_problems.h"
#include "tests/families/schedule.h"

namespace tw::tests {
namespace {

std::vector<const Instance*> depthwise_instances() {
  std::vector<const Instance*> found;
  for (const Instance& instance : conv2d_instances()) {
    if (facts_of_conv2d(instance).depthwise) found.push_back(&instance);
  }
  return found;
}

// A filter of `taps` by `taps` with a border around the image.
Conv2dShape square(const Instance& instance, std::int64_t channels, std::int64_t taps) {
  Conv2dShape shape = shape_for(instance);
  shape.c = shape.k = shape.groups = channels;
  shape.h = Axis{.extent = 9, .filter = taps, .pad_low = taps / 2, .pad_high = taps / 2};
  shape.w = Axis{.extent = 11, .filter = taps, .pad_low = taps / 2, .pad_high = taps / 2};
  return shape;
}

void expect_exact(const Instance& instance, const Conv2dShape& shape, Fill fill,
                  std::uint64_t seed) {
  const Case made = case_of(instance, shape, fill, seed);
  const VirtualRun run = run_virtually(Verified(made), schedule(seed));
  ASSERT_TRUE(run.clean()) << run_line(made) << "\n" << run.complaint();
  ASSERT_TRUE(run.comparison.exact) << run_line(made);
}

TEST(Depthwise, RunsOnEveryTarget) {
  std::string targets;
  for (const Instance* instance : depthwise_instances()) {
    targets += std::string(instance->target) + " ";
  }
  for (const char* target : {"sm80 ", "sm90a ", "sm100a "}) {
    EXPECT_NE(targets.find(target), std::string::npos) << target;
  }
}

TEST(Depthwise, ComputesRandomProblemsExactly) {
  Random random(base_seed());
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  for (std::uint64_t i = 0; i < 60; ++i) {
    for (const Instance* instance : depthwise_instances()) {
      expect_exact(*instance, random_shape(*instance, random),
                   i % 3 == 2 ? Fill::Position : Fill::Integers, base_seed() + i);
      if (HasFatalFailure()) return;
    }
  }
}

// Those that have code of their own, and one that has not; lines that end within a strip, several
// blocks of columns, and more tiles than CTAs.
TEST(Depthwise, ComputesSquareFiltersExactly) {
  for (const Instance* instance : depthwise_instances()) {
    for (const std::int64_t taps : {3, 4, 5, 7}) {
      for (const std::int64_t stride : {1, 2}) {
        Conv2dShape shape = square(*instance, taps == 3 ? 144 : 24, taps);
        shape.n = taps == 3 ? 4 : 1;
        shape.h.stride = shape.w.stride = stride;
        expect_exact(*instance, shape, stride == 1 ? Fill::Position : Fill::Integers, 8);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// 961 positions: too many for vectors of filters, not for single ones.
TEST(Depthwise, TakesLargeFilters) {
  for (const Instance* instance : depthwise_instances()) {
    expect_exact(*instance, square(*instance, 16, 31), Fill::Integers, 2);
    if (HasFatalFailure()) return;
  }
}

TEST(Depthwise, AppliesEveryEpilogue) {
  for (const Instance* instance : depthwise_instances()) {
    for (const std::int64_t channels : {16, 13}) {
      Conv2dShape shape = square(*instance, channels, 3);
      EpilogueShape& epilogue = shape.parts;
      epilogue.alpha = 2.0f;
      epilogue.beta = 0.5f;
      epilogue.output_scale = 0.5f;
      epilogue.column_bias = epilogue.row_bias = true;
      epilogue.column_scale = epilogue.row_scale = true;
      epilogue.auxiliary = epilogue.amax = true;
      epilogue.activation = Activation::Relu;
      const VirtualRun run =
          run_virtually(Verified(case_of(*instance, shape, Fill::Integers, 3)), schedule(3));
      ASSERT_TRUE(run.clean()) << instance->name << " " << channels << "\n" << run.complaint();
    }
  }
}

// One channel of a vector is infinite, image and filter: no other may show it, multiplied by zero
// or not.
TEST(Depthwise, KeepsChannelsApart) {
  constexpr std::int64_t infinite = 5;
  for (const Instance* instance : depthwise_instances()) {
    for (const std::int64_t channels : {16, 13}) {
      const Verified verified(
          case_of(*instance, square(*instance, channels, 3), Fill::Integers, 5));
      HostProblem data = verified.given();
      const Ran plain = run_with(*instance, data);
      ASSERT_TRUE(plain.status.is_good() && verified.compare(plain.data).good());
      constexpr double value = std::numeric_limits<double>::infinity();
      HostMatrix &image = data.tensor(Conv2dFamily::image),
                 &filter = data.tensor(Conv2dFamily::filter);
      for (std::int64_t i = 0; i < image.rows; ++i) image.set(0, i, infinite, value);
      for (std::int64_t i = 9 * infinite; i < 9 * (infinite + 1); ++i) filter.set(0, i, 0, value);
      const Ran run = run_with(*instance, data);
      ASSERT_TRUE(run.status.is_good()) << run.status.sentence();
      const HostMatrix& d = plain.data.tensor(Conv2dFamily::d);
      for (std::int64_t row = 0; row < d.rows; ++row) {
        for (std::int64_t column = 0; column < channels; ++column) {
          const double found = run.data.tensor(Conv2dFamily::d).at(0, row, column);
          if (column == infinite) {
            ASSERT_FALSE(std::isfinite(found)) << instance->name << " " << row;
          } else {
            ASSERT_EQ(found, d.at(0, row, column)) << instance->name << " " << row << " " << column;
          }
        }
      }
    }
  }
}

// Channels that would make vectors, at addresses that do not.
TEST(Depthwise, TakesAddressesOffSixteenBytes) {
  for (const Instance* instance : depthwise_instances()) {
    const Conv2dShape shape = square(*instance, 16, 3);
    for (const bool image_is_off : {true, false}) {
      const Verified verified(case_of(*instance, shape, Fill::Integers, 4));
      const auto bytes = static_cast<std::size_t>(image_pixels(shape) * shape.c * 2);
      std::vector<std::uint16_t> moved(bytes / 2 + 1);  // D has as many elements
      Ran ran = run_with(
          *instance, verified.given(),
          [&](tw_conv2d_problem& given) {
            if (image_is_off) {
              std::memcpy(moved.data() + 1, given.image, bytes);
              given.image = moved.data() + 1;
            } else {
              given.d = moved.data() + 1;
            }
          },
          schedule(4));
      ASSERT_TRUE(ran.status.is_good()) << ran.status.sentence();
      ASSERT_EQ(ran.report.verdict(), vgpu::Report::Clean) << instance->name;
      if (!image_is_off) {
        std::memcpy(ran.data.tensor(Conv2dFamily::d).data(), moved.data() + 1, bytes);
      }
      const Comparison comparison = verified.compare(ran.data);
      EXPECT_TRUE(comparison.good()) << comparison.complaint();
    }
  }
}

TEST(Depthwise, IsWhatTheDispatcherTakes) {
  for (const Instance* instance : depthwise_instances()) {
    HostProblem data(case_of(*instance, square(*instance, 64, 3), Fill::Integers, 1));
    AnyProblem problem = data.placed();
    DispatchRequest request;
    request.target = instance->target;
    LaunchChoice choice;
    Checked checked;
    ASSERT_TRUE(check(checked, Conv2dFamily::description, problem.data()).is_good());
    ASSERT_TRUE(choose_conv2d(choice, checked, request, nullptr).is_good());
    EXPECT_TRUE(facts_of_conv2d(*choice.instance).depthwise) << choice.instance->name;
    problem.as<tw_conv2d_problem>().groups = 32;
    ASSERT_TRUE(check(checked, Conv2dFamily::description, problem.data()).is_good());
    if (!choose_conv2d(choice, checked, request, nullptr).is_good()) continue;
    EXPECT_FALSE(facts_of_conv2d(*choice.instance).depthwise);
  }
}

TEST(Depthwise, RefusesWithASentence) {
  const Instance& instance = *depthwise_instances()[0];
  const auto refusal = [&](const auto& change) {
    const Case made = case_of(instance, square(instance, 16, 3), Fill::Integers, 1);
    return run_with(instance, HostProblem(made), change).status.sentence();
  };
  using P = tw_conv2d_problem;
  EXPECT_EQ(refusal([](P&) {}), "");
  EXPECT_EQ(refusal([](P& p) { p.n = 0; }), "");
  EXPECT_EQ(refusal([](P& p) { p.h.extent = p.h.filter = p.w.filter = 65; }),
            "The filter's number of positions = 4225 must be from 1 to 4096.");
  EXPECT_EQ(refusal([](P& p) { p.groups = 8; }),
            "This kernel convolves bf16 into bf16, forward, each channel for itself; given are "
            "bf16 into bf16, c = 16 and groups = 8.");
  EXPECT_EQ(refusal([](P& p) { p.type = TW_FP16; }),
            "This kernel convolves bf16 into bf16, forward, each channel for itself; given are "
            "fp16 into bf16, c = 16 and groups = 16.");
}

}  // namespace
}  // namespace tw::tests
