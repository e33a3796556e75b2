// The shrinker, asked about failures that are known.
#include "src/cli/shrink.h"

#include <gtest/gtest.h>

#include "src/families/matmul.h"
#include "src/verify/product.h"

namespace tw::cli {
namespace {

// Takes whatever comes.
KernelProblem take(const Checked& problem) { return {problem, {}}; }
Status takes(const KernelProblem&, const LaunchOrder&) { return Status::good(); }
constexpr ProductFacts facts = {{}, 4, 0, true, true, true, 0};
const Instance any = {"any", "sm90a", 1, &facts, take, takes, nullptr, nullptr, nullptr};

// The type of biases that are gone is not said.
MatmulShape shape_of_case(const ScheduledCase& one) {
  MatmulShape shape = product_shape(one.shape);
  if (!shape.epilogue.column_bias && !shape.epilogue.row_bias) {
    shape.epilogue.bias_type = ElementType::Bf16;
  }
  return shape;
}

ScheduledCase wild_case() {
  ScheduledCase wild = {usual_case(matmul_trial, any)};
  auto& problem = wild.shape.as<tw_matmul_problem>();
  problem.m = 301;
  problem.n = 222;
  problem.k = 517;
  problem.batch = 3;
  wild.shape.shared_b = wild.shape.unaligned = true;
  EpilogueShape epilogue = {.alpha = -0.5f, .beta = 2.0f, .output_scale = 0.25f};
  epilogue.activation = Activation::Gelu;
  epilogue.gated = epilogue.row_bias = epilogue.amax = true;
  epilogue.bias_type = ElementType::Fp32;
  set_epilogue(problem.epilogue, epilogue);
  wild.shape.order = {.group = 3, .raster = Raster::AlongN, .split_k = 5};
  wild.shape.fill = Fill::Normal;
  wild.shape.seed = 4711;
  wild.schedule.sm_count = 7;
  wild.schedule.landing = vgpu::Landing::Adversarial;
  wild.schedule.seed = 99;
  return wild;
}

TEST(Shrink, FindsTheSmallestFailingCase) {
  int asked = 0;
  const ScheduledCase found = shrink(
      wild_case(),
      [&](const ScheduledCase& one) {
        ++asked;
        const MatmulShape shape = shape_of_case(one);
        return shape.m > 37 && shape.epilogue.activation == Activation::Gelu;
      },
      1000);
  const MatmulShape expected = {
      .m = 38, .n = 1, .k = 1, .epilogue = {.activation = Activation::Gelu}};
  EXPECT_EQ(shape_of_case(found), expected);
  EXPECT_EQ(found.shape.order, LaunchOrder{});
  EXPECT_EQ(found.shape.fill, Fill::Integers);
  EXPECT_EQ(found.shape.seed, 1u);
  EXPECT_EQ(found.schedule.sm_count, 1u);
  EXPECT_EQ(found.schedule.landing, vgpu::Landing::Eager);
  EXPECT_LT(asked, 100);
}

TEST(Shrink, KeepsWhatTheFailureNeeds) {
  const ScheduledCase found = shrink(
      wild_case(),
      [](const ScheduledCase& one) {
        const MatmulShape shape = shape_of_case(one);
        EXPECT_TRUE(!shape.epilogue.gated || shape.n % 2 == 0);
        return shape.epilogue.gated && shape.n >= 13 && shape.k % 3 == 1 && shape.batch > 1 &&
               one.shape.order.split_k > 2 && one.schedule.landing != vgpu::Landing::Eager &&
               one.schedule.sm_count >= 4;
      },
      1000);
  const MatmulShape shape = shape_of_case(found);
  EXPECT_EQ(shape.n, 14);
  EXPECT_EQ(shape.k, 1);
  EXPECT_EQ(shape.m, 1);
  EXPECT_EQ(shape.batch, 2);
  EXPECT_EQ(found.shape.order.split_k, 3);
  EXPECT_EQ(found.schedule.landing, vgpu::Landing::Lazy);
  EXPECT_EQ(found.schedule.sm_count, 4u);
  EXPECT_EQ(shape.epilogue, EpilogueShape{.gated = true});
}

TEST(Shrink, StopsWhenItHasAskedEnough) {
  int asked = 0;
  const auto fails = [&asked](const ScheduledCase& one) {
    ++asked;
    return shape_of_case(one).m > 37;
  };
  EXPECT_GT(shape_of_case(shrink(wild_case(), fails, 5)).m, 37);
  EXPECT_LE(asked, 5);
  EXPECT_GT(asked, 0);
}

// What the shrinker of any family asks of a case.
struct Pair {
  std::pair<std::int64_t, std::int64_t> shape;
  Fill fill = Fill::Integers;
  friend bool same_problem(const Pair& one, const Pair& other) {
    return one.shape == other.shape && one.fill == other.fill;
  }
};

TEST(Shrink, ReducesTheNumbersOfAnyCase) {
  int asked = 0;
  CaseShrinker<Pair> shrinker({{1000, 77}}, [&](const Pair& one) {
    ++asked;
    return one.shape.first > 37 && one.shape.second >= one.shape.first / 10;
  });
  const Pair found = shrinker.shrink([](CaseShrinker<Pair>& round) {
    round.reduce([](Pair& one) -> std::int64_t& { return one.shape.first; }, 1);
    round.reduce([](Pair& one) -> std::int64_t& { return one.shape.second; }, 1);
  });
  EXPECT_EQ(found.shape, std::pair(std::int64_t{38}, std::int64_t{3}));
  EXPECT_LE(asked, shrink_tries);
}

}  // namespace
}  // namespace tw::cli
