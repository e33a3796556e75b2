// The shrinker, asked about failures that are known.
#include "src/cli/shrink.h"

#include <gtest/gtest.h>

#include "src/cli/fuzz_case.h"

namespace tw::cli {
namespace {

FuzzCase wild_case() {
  FuzzCase wild;
  MatmulShape& shape = wild.task.shape;
  shape.m = 301;
  shape.n = 222;
  shape.k = 517;
  shape.batch = 3;
  shape.shared_b = shape.unaligned = true;
  shape.epilogue = {.alpha = -0.5f, .beta = 2.0f, .output_scale = 0.25f};
  shape.epilogue.activation = Activation::Gelu;
  shape.epilogue.gated = shape.epilogue.row_bias = shape.epilogue.amax = true;
  shape.epilogue.bias_type = ElementType::Fp32;
  wild.task.order = {.group = 3, .raster = Raster::AlongN, .split_k = 5};
  wild.task.fill = Fill::Normal;
  wild.task.seed = 4711;
  wild.schedule.sm_count = 7;
  wild.schedule.landing = vgpu::Landing::Adversarial;
  wild.schedule.seed = 99;
  return wild;
}

TEST(Shrink, FindsTheSmallestFailingCase) {
  int asked = 0;
  const FuzzCase found = shrink(
      wild_case(),
      [&](const FuzzCase& one) {
        ++asked;
        return one.task.shape.m > 37 && one.task.shape.epilogue.activation == Activation::Gelu;
      },
      1000);
  const MatmulShape expected = {
      .m = 38, .n = 1, .k = 1, .epilogue = {.activation = Activation::Gelu}};
  EXPECT_EQ(found.task.shape, expected);
  EXPECT_EQ(found.task.order.group, 0);
  EXPECT_EQ(found.task.order.split_k, 1);
  EXPECT_EQ(found.task.order.raster, Raster::AlongM);
  EXPECT_EQ(found.task.fill, Fill::Integers);
  EXPECT_EQ(found.task.seed, 1u);
  EXPECT_EQ(found.schedule.sm_count, 1u);
  EXPECT_EQ(found.schedule.landing, vgpu::Landing::Eager);
  EXPECT_LT(asked, 100);
}

TEST(Shrink, KeepsWhatTheFailureNeeds) {
  const FuzzCase found = shrink(
      wild_case(),
      [](const FuzzCase& one) {
        const MatmulShape& shape = one.task.shape;
        EXPECT_TRUE(!shape.epilogue.gated || shape.n % 2 == 0);
        return shape.epilogue.gated && shape.n >= 13 && shape.k % 3 == 1 && shape.batch > 1 &&
               one.task.order.split_k > 2 && one.schedule.landing != vgpu::Landing::Eager &&
               one.schedule.sm_count >= 4;
      },
      1000);
  EXPECT_EQ(found.task.shape.n, 14);
  EXPECT_EQ(found.task.shape.k, 1);
  EXPECT_EQ(found.task.shape.m, 1);
  EXPECT_EQ(found.task.shape.batch, 2);
  EXPECT_EQ(found.task.order.split_k, 3);
  EXPECT_EQ(found.schedule.landing, vgpu::Landing::Lazy);
  EXPECT_EQ(found.schedule.sm_count, 4u);
  EXPECT_EQ(found.task.shape.epilogue, EpilogueShape{.gated = true});
}

TEST(Shrink, StopsWhenItHasAskedEnough) {
  int asked = 0;
  const auto fails = [&asked](const FuzzCase& one) {
    ++asked;
    return one.task.shape.m > 37;
  };
  EXPECT_GT(shrink(wild_case(), fails, 5).task.shape.m, 37);
  EXPECT_EQ(asked, 5);
}

// What the shrinker of any family asks of a case.
struct Pair {
  std::pair<std::int64_t, std::int64_t> shape;
  Fill fill = Fill::Integers;
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
