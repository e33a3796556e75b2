// RuntimeEpilogue in random mixes of everything, on every output, layout and store.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "tests/epilogue/kernel.h"
#include "tests/vgpu/support.h"

namespace tw::tests {
namespace {

using test::clean;
using test::every_landing;

vgpu::Report run(EpilogueData& data) {
  switch (data.problem.output) {
    case ElementType::Bf16: return run_mixed<ElementType::Bf16>(data);
    case ElementType::Fp16: return run_mixed<ElementType::Fp16>(data);
    case ElementType::Fp32: return run_mixed<ElementType::Fp32>(data);
    case ElementType::E4m3: return run_mixed<ElementType::E4m3>(data);
    default: return run_mixed<ElementType::S32>(data);
  }
}

void expect_right(const EpilogueCase& problem) {
  EpilogueData data(problem);
  const vgpu::Report report = run(data);
  ASSERT_TRUE(clean(report)) << problem.name();
  ASSERT_EQ(data.complaint(), "") << problem.name();
}

std::uint64_t base_seed() {
  const char* text = std::getenv("TW_SEED");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 20261115;
}

constexpr ElementType outputs[] = {ElementType::Bf16, ElementType::Fp16, ElementType::Fp32,
                                   ElementType::E4m3, ElementType::S32};
constexpr ElementType float_types[] = {ElementType::Bf16, ElementType::Fp16, ElementType::Fp32};

// Any address that is not null asks for an operand.
int asked;
std::uint32_t asked_amax;

EpilogueCase random_case(std::mt19937_64& random, int index) {
  const auto one_in = [&](unsigned count) { return random() % count == 0; };
  const auto extent = [&](int limit) {
    switch (random() % 6) {
      case 0: return 1;
      case 1: return 64 * static_cast<int>(1 + random() % (limit / 64));
      default: return static_cast<int>(1 + random() % limit);
    }
  };
  const auto scale = [&](bool exact) {
    const float exact_scales[] = {1.0f, 2.0f, -0.5f, 1.0f};
    return exact ? exact_scales[random() % 4] : static_cast<float>(random() % 1000) / 500 - 0.9f;
  };
  EpilogueCase problem;
  problem.seed = random() % 1000000;
  problem.output = outputs[index % 5];
  problem.landing = every_landing[random() % 4];
  problem.m = extent(260);
  problem.n = extent(300);
  problem.batch = one_in(3) ? 2 : 1;
  problem.exact = one_in(2);
  problem.integer_sums = one_in(3);
  problem.aligned = !one_in(4);
  problem.aligned_operands = !one_in(3);
  problem.mechanism = one_in(3) ? Mechanism::Direct : Mechanism::Staged;
  problem.held = one_in(2) ? Held::Row : one_in(2) ? Held::Narrow : Held::Matrix;
  if (problem.mechanism == Mechanism::Direct && one_in(3)) problem.held = Held::Warps;
  if (one_in(3) && problem.m > 3) {
    const int first = 1 + static_cast<int>(random() % (problem.m - 2));
    problem.group_ends = {first, first + 1 + static_cast<int>(random() % (problem.m - first - 1))};
    if (one_in(2)) problem.group_ends.push_back(problem.m);
  }
  EpilogueArguments& arguments = problem.arguments;
  arguments.alpha = scale(problem.exact);
  if (one_in(6)) return problem;  // plain
  if (one_in(2)) {
    arguments.source = &asked;
    arguments.beta = scale(problem.exact);
    arguments.source_type = float_types[random() % 3];
  }
  arguments.bias_type = float_types[random() % 3];
  if (one_in(2)) arguments.column_bias = &asked;
  if (one_in(3)) arguments.row_bias = &asked;
  if (one_in(3)) arguments.column_scale = reinterpret_cast<float*>(&asked);
  if (one_in(3)) arguments.row_scale = reinterpret_cast<float*>(&asked);
  if (one_in(3)) {
    arguments.auxiliary = &asked;
    arguments.auxiliary_type = float_types[random() % 3];
  }
  if (one_in(3)) arguments.amax = &asked_amax;
  if (one_in(3)) arguments.output_scale = problem.exact ? 0.25f : 0.37f;
  constexpr Activation any[] = {Activation::None, Activation::Relu, Activation::Clamp,
                                Activation::Gelu, Activation::Silu, Activation::Tanh};
  arguments.activation = any[random() % (problem.exact ? 3 : 6)];
  arguments.clamp_low = -1.5f;
  arguments.clamp_high = 2.0f;
  if (one_in(4)) {
    arguments.gated = true;
    problem.n = (problem.n + 1) / 2 * 2;
  }
  return problem;
}

TEST(Epilogue, ComputesRandomMixes) {
  const std::uint64_t seed = base_seed();
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  for (int index = 0; index < 400; ++index) {
    ASSERT_NO_FATAL_FAILURE(expect_right(random_case(random, index)));
  }
}

// Each part alone, on every output, layout and store.
TEST(Epilogue, ComputesEachPartAlone) {
  using Change = void (*)(EpilogueCase&);
  const Change changes[] = {
      [](EpilogueCase&) {},
      [](EpilogueCase& problem) { problem.arguments.alpha = 2.0f; },
      [](EpilogueCase& problem) {
        problem.arguments.source = &asked;
        problem.arguments.beta = -0.5f;
      },
      [](EpilogueCase& problem) { problem.arguments.column_bias = &asked; },
      [](EpilogueCase& problem) { problem.arguments.row_bias = &asked; },
      [](EpilogueCase& problem) {
        problem.arguments.column_scale = reinterpret_cast<float*>(&asked);
      },
      [](EpilogueCase& problem) { problem.arguments.row_scale = reinterpret_cast<float*>(&asked); },
      [](EpilogueCase& problem) { problem.arguments.activation = Activation::Relu; },
      [](EpilogueCase& problem) {
        problem.exact = false;
        problem.arguments.activation = Activation::Gelu;
      },
      [](EpilogueCase& problem) {
        problem.exact = false;
        problem.arguments.activation = Activation::Silu;
      },
      [](EpilogueCase& problem) {
        problem.exact = false;
        problem.arguments.activation = Activation::Tanh;
      },
      [](EpilogueCase& problem) {
        problem.arguments.activation = Activation::Clamp;
        problem.arguments.clamp_low = -2.0f;
        problem.arguments.clamp_high = 3.0f;
      },
      [](EpilogueCase& problem) { problem.arguments.gated = true; },
      [](EpilogueCase& problem) { problem.arguments.auxiliary = &asked; },
      [](EpilogueCase& problem) { problem.arguments.amax = &asked_amax; },
      [](EpilogueCase& problem) { problem.arguments.output_scale = 0.25f; },
  };
  for (const Change change : changes) {
    for (const ElementType output : outputs) {
      for (const Mechanism mechanism : {Mechanism::Staged, Mechanism::Direct}) {
        for (const Held held : {Held::Matrix, Held::Narrow, Held::Warps, Held::Row}) {
          if (mechanism == Mechanism::Staged && held == Held::Warps) continue;
          EpilogueCase problem;
          problem.m = 70;
          problem.n = 134;
          problem.output = output;
          problem.mechanism = mechanism;
          problem.held = held;
          change(problem);
          ASSERT_NO_FATAL_FAILURE(expect_right(problem));
        }
      }
    }
  }
}

// Sums that no float holds reach an s32 output as they are.
TEST(Epilogue, PassesIntegersThroughExactly) {
  for (const Held held : {Held::Matrix, Held::Narrow, Held::Row}) {
    for (const Mechanism mechanism : {Mechanism::Staged, Mechanism::Direct}) {
      EpilogueCase problem;
      problem.m = 65;
      problem.n = 71;
      problem.output = ElementType::S32;
      problem.integer_sums = true;
      problem.held = held;
      problem.mechanism = mechanism;
      EpilogueData data(problem);
      for (std::size_t i = 0; i < data.sums.size(); ++i) {
        data.sums[i] = 2147483647.0 - 3 * static_cast<double>(i);
      }
      ASSERT_TRUE(clean(run(data)));
      EXPECT_EQ(data.complaint(), "");
    }
  }
}

TEST(Epilogue, OneNanMakesTheLargestMagnitudeNan) {
  EpilogueCase problem;
  problem.m = 80;
  problem.n = 40;
  problem.arguments.amax = &asked_amax;
  EpilogueData data(problem);
  data.sums[17] = std::nan("");
  data.sums[18] = -INFINITY;
  ASSERT_TRUE(clean(run(data)));
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(data.amax)));
  data.sums[17] = 0;
  data.amax = 0;
  ASSERT_TRUE(clean(run(data)));
  EXPECT_EQ(std::bit_cast<float>(data.amax), INFINITY);
}

// A source that is scaled by zero is not read.
TEST(Epilogue, IgnoresASourceScaledByZero) {
  EpilogueCase problem;
  problem.m = 20;
  problem.n = 64;
  EpilogueData data(problem);
  data.arguments.source = &asked;  // no range of the virtual GPU's memory
  data.arguments.beta = 0.0f;
  EXPECT_TRUE(clean(run(data)));
  EXPECT_EQ(data.complaint(), "");
}

}  // namespace
}  // namespace tw::tests
