// Depthwise convolutions on the streaming skeleton, against the direct convolution.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "src/dispatch/conv2d.h"
#include "tests/families/conv2d_problems.h"
#include "tests/families/schedule.h"

namespace tw::tests {
namespace {

std::vector<const Conv2dInstance*> depthwise_instances() {
  std::vector<const Conv2dInstance*> found;
  for (const Conv2dInstance& instance : conv2d_instances()) {
    if (instance.depthwise) found.push_back(&instance);
  }
  return found;
}

// A filter of `taps` by `taps` with a border around the image.
Conv2dShape square(const Conv2dInstance& instance, std::int64_t channels, std::int64_t taps) {
  Conv2dShape shape = shape_for(instance);
  shape.c = shape.k = shape.groups = channels;
  shape.h = {.extent = 9, .filter = taps, .pad_low = taps / 2, .pad_high = taps / 2};
  shape.w = {.extent = 11, .filter = taps, .pad_low = taps / 2, .pad_high = taps / 2};
  return shape;
}

void expect_exact(const Conv2dInstance& instance, const Conv2dShape& shape, Fill fill,
                  std::uint64_t seed) {
  const VirtualRun run =
      run_virtually(instance, {}, VerifiedConv2d(shape, fill, seed), schedule(seed));
  const std::string line = run_line(instance, shape, fill, seed);
  ASSERT_TRUE(run.clean()) << line << "\n" << run.complaint();
  ASSERT_TRUE(run.comparison.exact) << line;
}

TEST(Depthwise, RunsOnEveryTarget) {
  std::string targets;
  for (const Conv2dInstance* instance : depthwise_instances()) {
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
    for (const Conv2dInstance* instance : depthwise_instances()) {
      expect_exact(*instance, random_shape(*instance, random),
                   i % 3 == 2 ? Fill::Position : Fill::Integers, base_seed() + i);
      if (HasFatalFailure()) return;
    }
  }
}

// Those that have code of their own, and one that has not; lines that end within a strip, several
// blocks of columns, and more tiles than CTAs.
TEST(Depthwise, ComputesSquareFiltersExactly) {
  for (const Conv2dInstance* instance : depthwise_instances()) {
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
  for (const Conv2dInstance* instance : depthwise_instances()) {
    expect_exact(*instance, square(*instance, 16, 31), Fill::Integers, 2);
    if (HasFatalFailure()) return;
  }
}

TEST(Depthwise, AppliesEveryEpilogue) {
  for (const Conv2dInstance* instance : depthwise_instances()) {
    for (const std::int64_t channels : {16, 13}) {
      Conv2dShape shape = square(*instance, channels, 3);
      EpilogueShape& epilogue = shape.epilogue;
      epilogue.alpha = 2.0f;
      epilogue.beta = 0.5f;
      epilogue.output_scale = 0.5f;
      epilogue.column_bias = epilogue.row_bias = true;
      epilogue.column_scale = epilogue.row_scale = true;
      epilogue.auxiliary = epilogue.amax = true;
      epilogue.activation = Activation::Relu;
      const VirtualRun run =
          run_virtually(*instance, {}, VerifiedConv2d(shape, Fill::Integers, 3), schedule(3));
      ASSERT_TRUE(run.clean()) << instance->name << " " << channels << "\n" << run.complaint();
    }
  }
}

// One channel of a vector is infinite, image and filter: no other may show it, multiplied by zero
// or not.
TEST(Depthwise, KeepsChannelsApart) {
  constexpr std::int64_t infinite = 5;
  for (const Conv2dInstance* instance : depthwise_instances()) {
    for (const std::int64_t channels : {16, 13}) {
      VerifiedConv2d problem(square(*instance, channels, 3), Fill::Integers, 5);
      const VirtualRun plain = run_virtually(*instance, {}, problem, {});
      ASSERT_TRUE(plain.clean()) << plain.complaint();
      constexpr double value = std::numeric_limits<double>::infinity();
      for (std::int64_t i = 0; i < problem.data.a.rows; ++i) {
        problem.data.a.set(0, i, infinite, value);
      }
      for (std::int64_t i = 9 * infinite; i < 9 * (infinite + 1); ++i) {
        problem.data.b.set(0, i, 0, value);
      }
      const VirtualRun run = run_virtually(*instance, {}, problem, {});
      ASSERT_TRUE(run.status.is_good()) << run.status.sentence();
      for (std::int64_t row = 0; row < plain.data.d.rows; ++row) {
        for (std::int64_t column = 0; column < channels; ++column) {
          const double found = run.data.d.at(0, row, column);
          if (column == infinite) {
            ASSERT_FALSE(std::isfinite(found)) << instance->name << " " << row;
          } else {
            ASSERT_EQ(found, plain.data.d.at(0, row, column))
                << instance->name << " " << row << " " << column;
          }
        }
      }
    }
  }
}

// Channels that would make vectors, at addresses that do not.
TEST(Depthwise, TakesAddressesOffSixteenBytes) {
  for (const Conv2dInstance* instance : depthwise_instances()) {
    const Conv2dShape shape = square(*instance, 16, 3);
    for (const bool image_is_off : {true, false}) {
      const VerifiedConv2d problem(shape, Fill::Integers, 4);
      MatmulData data = problem.data;
      Conv2dProblem given = conv2d_on_host(data, shape);
      const auto bytes = static_cast<std::size_t>(shape.image_pixels() * shape.c * 2);
      std::vector<std::uint16_t> moved(bytes / 2 + 1);  // D has as many elements
      if (image_is_off) {
        std::memcpy(moved.data() + 1, given.image, bytes);
        given.image = moved.data() + 1;
      } else {
        given.d = moved.data() + 1;
      }
      vgpu::Report report;
      ASSERT_TRUE(instance->simulate(given, {}, schedule(4), report).is_good());
      ASSERT_EQ(report.verdict(), vgpu::Report::Clean) << instance->name;
      if (!image_is_off) std::memcpy(data.d.data(), given.d, bytes);
      const Comparison comparison = compare(data, problem.reference);
      EXPECT_TRUE(comparison.good()) << comparison.complaint();
    }
  }
}

TEST(Depthwise, IsWhatTheDispatcherTakes) {
  for (const Conv2dInstance* instance : depthwise_instances()) {
    Conv2dShape shape = square(*instance, 64, 3);
    MatmulData data = make_conv2d_data(shape, Fill::Integers, 1);
    Conv2dProblem problem = conv2d_on_host(data, shape);
    DispatchRequest request;
    request.target = instance->target;
    Conv2dChoice choice;
    ASSERT_TRUE(choose(choice, problem, request, nullptr).is_good());
    EXPECT_TRUE(choice.instance->depthwise) << choice.instance->name;
    problem.groups = 32;
    if (!choose(choice, problem, request, nullptr).is_good()) continue;
    EXPECT_FALSE(choice.instance->depthwise);
  }
}

TEST(Depthwise, RefusesWithASentence) {
  const Conv2dInstance& instance = *depthwise_instances()[0];
  const auto refusal = [&](const auto& change) {
    const Conv2dShape shape = square(instance, 16, 3);
    MatmulData data = make_conv2d_data(shape, Fill::Integers, 1);
    Conv2dProblem problem = conv2d_on_host(data, shape);
    change(problem);
    vgpu::Report report;
    return instance.simulate(problem, {}, {}, report).sentence();
  };
  using P = Conv2dProblem;
  EXPECT_EQ(refusal([](P&) {}), "");
  EXPECT_EQ(refusal([](P& p) { p.n = 0; }), "");
  EXPECT_EQ(refusal([](P& p) { p.h.extent = p.h.filter = p.w.filter = 65; }),
            "The filter's number of positions = 4225 must be from 1 to 4096.");
  EXPECT_EQ(refusal([](P& p) { p.groups = 8; }),
            "This kernel convolves bf16 into bf16, forward, each channel for itself; given are "
            "bf16 into bf16, c = 16 and groups = 8.");
  EXPECT_EQ(refusal([](P& p) { p.type = ElementType::Fp16; }),
            "This kernel convolves bf16 into bf16, forward, each channel for itself; given are "
            "fp16 into bf16, c = 16 and groups = 16.");
}

}  // namespace
}  // namespace tw::tests
