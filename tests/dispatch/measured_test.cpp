// A table of made-up exceptions, and the stand-ins of tests/library for the kernels.
#include "src/dispatch/measured.h"

#include <gtest/gtest.h>

#include "src/dispatch/choose_launch.h"
#include "src/verify/stated.h"

namespace tw {

std::span<const MeasuredTable> compiled_tables() {
  static const MeasuredTable tables[] = {
      {"0.5.0",
       "NVIDIA H200",
       "",
       "",
       {{"matmul fp16 128x256x4096", "split", 7, 4, Raster::AlongN},
        {"matmul fp16 128x512x4096", "gone", 1, 0, Raster::AlongM}}},
  };
  return tables;
}

namespace {

MatmulProblem problem(std::int64_t m, std::int64_t n, std::int64_t k) {
  MatmulProblem problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.a.type = problem.b.type = ElementType::Fp16;
  alignas(16) static unsigned char memory[16];
  problem.a.data = problem.b.data = problem.d.data = memory;
  problem.a.pitch = problem.b.pitch = k;
  problem.d.pitch = n;
  return problem;
}

Choice choice_of(const MatmulProblem& problem, const DispatchRequest& request) {
  Choice choice;
  const StatedMatmul stated(problem);
  EXPECT_TRUE(stated.status().is_good()) << stated.status().sentence();
  const Status status = choose(choice, stated.checked(), request, nullptr);
  EXPECT_TRUE(status.is_good()) << status.sentence();
  return choice;
}

bool is_measured(const MatmulProblem& problem, const DispatchRequest& request) {
  return choice_of(problem, request).measured;
}

}  // namespace

TEST(Measured, TheTableGoesBeforeTheModel) {
  const Choice choice = choice_of(problem(128, 256, 4096), {.device = "NVIDIA H200"});
  EXPECT_TRUE(choice.measured);
  EXPECT_STREQ(choice.instance->name, "split");
  EXPECT_EQ(choice.order.split_k, 7);
  EXPECT_EQ(choice.order.group, 4);
  EXPECT_EQ(choice.order.raster, Raster::AlongN);
  EXPECT_GT(choice.microseconds, 0);
}

TEST(Measured, OnlyItsDeviceIsMeant) {
  const MatmulProblem known = problem(128, 256, 4096);
  EXPECT_TRUE(is_measured(known, {.device = "NVIDIA H200 NVL"}));
  EXPECT_FALSE(is_measured(known, {.device = "NVIDIA H100 80GB HBM3"}));
  EXPECT_FALSE(is_measured(known, {.device = nullptr}));
}

TEST(Measured, TheModelStandsWhereTheTableIsSilentOrOld) {
  EXPECT_FALSE(is_measured(problem(128, 256, 4104), {.device = "NVIDIA H200"}));
  EXPECT_FALSE(is_measured(problem(128, 512, 4096), {.device = "NVIDIA H200"}));
  EXPECT_FALSE(is_measured(problem(128, 256, 4096), {.device = "NVIDIA H200", .by_table = false}));
  MatmulProblem batched = problem(128, 256, 4096);
  batched.batch = 2;
  batched.d.batch_pitch = 128 * 256;
  EXPECT_FALSE(is_measured(batched, {.device = "NVIDIA H200"}));
}

TEST(Measured, AnEpilogueThatMovesAMatrixIsAnotherCall) {
  MatmulProblem known = problem(128, 256, 4096);
  float bias = 0;
  known.epilogue.column_bias = &bias;
  known.epilogue.activation = Activation::Relu;
  EXPECT_TRUE(is_measured(known, {.device = "NVIDIA H200"}));
  known.epilogue.source = &bias;
  known.epilogue.source_pitch = 256;
  EXPECT_TRUE(is_measured(known, {.device = "NVIDIA H200"})) << "beta is 0";
  known.epilogue.beta = 1.0f;
  EXPECT_FALSE(is_measured(known, {.device = "NVIDIA H200"}));
}

TEST(Measured, ATableOfOnesOwnGoesFirst) {
  const MeasuredTable own = {"0.5.0",
                             "NVIDIA H200",
                             "",
                             "",
                             {{"matmul fp16 128x256x4096", "gone", 3, 0, Raster::AlongM},
                              {"matmul fp16 128x256x4096", "split", 3, 2, Raster::AlongM},
                              {"matmul fp16 128x256x8192", "split", 5, 0, Raster::AlongM}}};
  const DispatchRequest request = {.device = "NVIDIA H200", .own_table = &own};
  Choice choice = choice_of(problem(128, 256, 4096), request);
  EXPECT_TRUE(choice.measured);
  EXPECT_EQ(choice.order.split_k, 3);
  EXPECT_EQ(choice.order.group, 2);
  EXPECT_EQ(choice.order.raster, Raster::AlongM);
  choice = choice_of(problem(128, 256, 8192), request);
  EXPECT_TRUE(choice.measured);
  EXPECT_EQ(choice.order.split_k, 5);
}

TEST(Measured, WhoNamesAnInstanceIsNotOverruled) {
  EXPECT_FALSE(
      is_measured(problem(128, 256, 4096), {.device = "NVIDIA H200", .instance = "split"}));
}

TEST(Measured, ASumThatMustBeWholeIsNotSplit) {
  Choice choice;
  const DispatchRequest request = {.device = "NVIDIA H200", .batch_invariant = true};
  const StatedMatmul stated(problem(128, 256, 4096));
  EXPECT_FALSE(choose(choice, stated.checked(), request, nullptr).is_good());
}

}  // namespace tw
