// FP8 with scales of blocks on the virtual GPU. described_test.cpp has the random problems.
#include "src/families/blockwise.h"

#include <gtest/gtest.h>

#include "src/verify/virtual.h"
#include "tests/families/schedule.h"

namespace tw::tests {
namespace {

using Problem = tw_blockwise_problem;

Case sized(const Instance& instance, std::int64_t m, std::int64_t n, std::int64_t k) {
  Case made = usual_case(blockwise_trial, instance);
  tw_matmul_problem& matmul = made.as<Problem>().matmul;
  const std::int64_t few = config_of(instance).tiling.loaded_rows;
  matmul.m = few != 0 ? std::min(m, few) : m;
  matmul.n = n;
  matmul.k = k;
  return made;
}

// A scale of its own for every block and row, and zeros everywhere else: one that is taken from a
// neighbour, or from outside, shows.
TEST(Blockwise, EveryScaleMeetsItsOwnBlock) {
  for (const Instance& instance : blockwise_instances()) {
    for (const bool by_rows : {true, false}) {
      Case made = sized(instance, 131, 257, 645);
      made.fill = Fill::Position;
      made.as<Problem>().a_scales.k_stride = made.as<Problem>().b_scales.k_stride = by_rows ? 1 : 0;
      if (!by_rows) {
        made.unaligned_small = 1u << BlockwiseFamily::a_scales | 1u << BlockwiseFamily::b_scales;
      }
      const VirtualRun run =
          run_virtually(Verified(made), schedule(by_rows ? 2 : 5, instance.cluster));
      ASSERT_TRUE(run.clean()) << run_line(made) << "\n" << run.complaint();
      EXPECT_TRUE(run.comparison.exact) << run_line(made);
    }
  }
}

Status simulate(const Instance& instance, const AnyProblem& problem) {
  Checked checked;
  Status status = check(checked, BlockwiseFamily::description, problem.data());
  if (!status.is_good()) return status;
  vgpu::Report report;
  return instance.simulate(checked, {usual_case(blockwise_trial, instance).order}, {}, report);
}

TEST(Blockwise, EmptyProblemsNeedNoScales) {
  for (const Instance& instance : blockwise_instances()) {
    for (int i = 0; i < 3; ++i) {
      const Verified verified(sized(instance, i == 0 ? 0 : 5, i == 1 ? 0 : 9, i == 2 ? 0 : 7));
      HostProblem ran = verified.given();
      AnyProblem placed = ran.placed();
      placed.as<Problem>().a_scales = placed.as<Problem>().b_scales = {};
      const Status status = simulate(instance, placed);
      ASSERT_TRUE(status.is_good()) << status.sentence();
      const Comparison comparison = verified.compare(ran);
      EXPECT_TRUE(comparison.good()) << comparison.complaint();
    }
  }
}

// What a kernel refuses of problems that are sound: refusals/blockwise.list has the others.
TEST(Blockwise, KernelsRefuseWhatTheyDoNotTake) {
  const Instance& instance = blockwise_instances()[0];
  ASSERT_EQ(product_facts(instance).b_scale_rows, 128u);
  const auto refusal = [&](const auto& change) {
    HostProblem data = Verified(sized(instance, 100, 200, 500)).given();
    AnyProblem placed = data.placed();
    change(placed.as<Problem>());
    return simulate(instance, placed).sentence();
  };
  EXPECT_EQ(refusal([](Problem&) {}), "");
  EXPECT_EQ(refusal([](Problem& p) { p.b_scales.rows = 200; }),
            "The scales of B are 200 x 4, but must be 2 x 4: one for each 128 rows and each 128 of "
            "k.");
  EXPECT_EQ(refusal([](Problem& p) { p.matmul.a.type = TW_E5M2; }),
            "A has type e5m2; this kernel multiplies e4m3.");
}

// Kernels that take the exponents of scales are told that these are all of them.
TEST(Blockwise, ExponentsArePowersOfTwo) {
  unsigned kernels = 0;
  for (const Instance& instance : blockwise_instances()) {
    if (product_facts(instance).config.promote_every != 0) continue;
    ++kernels;
    Case made = sized(instance, 100, 200, 500);
    made.as<Problem>().powers_of_two = 0;
    HostProblem data = Verified(made).given();
    EXPECT_EQ(simulate(instance, data.placed()).sentence(),
              "This kernel takes scales that are powers of two: say so.");
  }
  EXPECT_EQ(kernels, 3u);
}

}  // namespace
}  // namespace tw::tests
