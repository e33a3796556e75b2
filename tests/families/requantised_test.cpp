// FP8 with scales of blocks and a quantised D on the virtual GPU. described_test.cpp has the random
// problems.
#include "src/families/requantised.h"

#include <gtest/gtest.h>

#include "src/verify/product.h"
#include "src/verify/random_epilogue.h"
#include "src/verify/scaled_trial.h"
#include "src/verify/virtual.h"
#include "tests/families/schedule.h"
#include "tests/families/seed.h"
#include "tilewright/family/requantised/launch.h"

namespace tw::tests {
namespace {

using Family = RequantisedFamily;
using Problem = tw_requantised_problem;

const RequantisedFacts& facts_of_instance(const Instance& instance) {
  return *static_cast<const RequantisedFacts*>(instance.facts);
}

Case sized(const Instance& instance, std::int64_t m, std::int64_t n, std::int64_t k) {
  Case made = usual_case(requantised_trial, instance);
  tw_matmul_problem& matmul = made.as<Problem>().matmul;
  matmul.m = m;
  matmul.n = n;
  matmul.k = k;
  return made;
}

Status simulate(const Instance& instance, const AnyProblem& problem, vgpu::Report& report) {
  Checked checked;
  Status status = check(checked, Family::description, problem.data());
  if (!status.is_good()) return status;
  return instance.simulate(checked, {}, schedule(3), report);
}

// D and its scales are A and its scales of the next product: as two kernels in a row, against both
// on the host.
TEST(Requantised, FeedsTheNextProduct) {
  for (const Instance& instance : requantised_instances()) {
    if (facts_of_instance(instance).gates_blocks) continue;  // its D is no A of the same weights
    Case first = sized(instance, 150, 256, 256);
    first.as<Problem>().powers_of_two = 1;
    first.seed = 7;
    const Verified verified(first);
    HostProblem ran = verified.given();
    vgpu::Report report;
    Status status = simulate(instance, ran.placed(), report);
    ASSERT_TRUE(status.is_good()) << status.sentence();
    ASSERT_TRUE(verified.compare(ran).good());

    // The next layer: A is D, m by 256; as many columns again.
    Case second = first;
    second.seed = 8;
    HostProblem next = Verified(second).given();
    next.tensor(Family::a) = ran.tensor(Family::d);
    next.tensor(Family::a_scales) = ran.tensor(Family::d_scales);
    const MatmulReference reference = ScaledTrial<Family>::reference(second, next);
    status = simulate(instance, next.placed(), report);
    ASSERT_TRUE(status.is_good()) << status.sentence();
    EXPECT_EQ(report.verdict(), vgpu::Report::Clean) << instance.name;
    const HostMatrix &d = next.tensor(Family::d), &scales = next.tensor(Family::d_scales);
    for (std::int64_t row = 0; row < d.rows; ++row) {
      for (std::int64_t column = 0; column < d.columns; ++column) {
        const double found = d.at(0, row, column) * scales.at(0, row, column / 128);
        // Half of the last place of e4m3 with a scale of up to twice what is needed, and float32.
        const auto line = static_cast<std::size_t>(row * d.columns);
        double amax = 0.0;
        for (std::int64_t i = column / 128 * 128; i < column / 128 * 128 + 128; ++i) {
          amax = std::max(amax, std::abs(reference.d[line + static_cast<std::size_t>(i)].value));
        }
        const double value = reference.d[line + static_cast<std::size_t>(column)].value;
        ASSERT_NEAR(found, value, std::abs(value) / 16 + amax / 448 / 256 + amax * 1e-5)
            << instance.name << " at " << row << ", " << column;
      }
    }
  }
}

// Random problems of integers, with an epilogue that keeps them integers, are compared bit by bit,
// elements and scales. described_test.cpp judges random data and any epilogue by derived bounds.
TEST(Requantised, RandomProblemsOfIntegersAreExact) {
  Random random(base_seed());
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  for (int i = 0; i < 60; ++i) {
    const auto instances = requantised_instances();
    const Instance& instance = instances[static_cast<std::size_t>(i) % instances.size()];
    Case made = random_case(requantised_trial, instance, random);
    made.fill = i % 3 == 2 ? Fill::Position : Fill::Integers;
    Dice dice(random);
    const bool gates = facts_of_instance(instance).gates_blocks;
    if (gates) {
      // Products of two sums that float32 holds.
      made.fill = Fill::Integers;
      made.as<Problem>().matmul.k = 1 + i % 4;
      made.as<Problem>().matmul.epilogue.activation = i % 2 == 0 ? TW_NONE : TW_RELU;
    } else {
      set_epilogue(made.as<Problem>().matmul.epilogue, random_integer_epilogue(dice));
    }
    ASSERT_TRUE(serves(made).is_good()) << serves(made).sentence();
    const VirtualRun run = run_virtually(Verified(made), schedule(4, instance.cluster));
    ASSERT_TRUE(run.clean()) << run_line(made) << "\n" << run.complaint();
    ASSERT_TRUE(run.comparison.exact) << run_line(made);
  }
}

// An element, a scale, and what was not written.
TEST(Requantised, AnAnswerFindsWhatIsWrong) {
  for (const Fill fill : {Fill::Integers, Fill::Normal}) {
    Case made = sized(requantised_instances()[0], 40, 200, 200);
    made.fill = fill;
    const Verified verified(made);
    HostProblem ran = verified.given();
    const auto wrong = [&](const auto& spoil) {
      HostProblem spoilt = ran;
      spoil(spoilt);
      return verified.compare(spoilt).wrong;
    };
    EXPECT_GT(wrong([](HostProblem&) {}), 40 * 200);  // poison
    vgpu::Report report;
    ASSERT_TRUE(simulate(*made.instance, ran.placed(), report).is_good());
    EXPECT_EQ(wrong([](HostProblem&) {}), 0);
    // The bits of one element are turned: of exact values the last, of others the largest's sign.
    for (const std::int64_t first : {0, 128}) {
      EXPECT_EQ(wrong([&](HostProblem& data) {
                  HostMatrix& d = data.tensor(Family::d);
                  std::int64_t column = first;
                  for (std::int64_t i = first; i < std::min<std::int64_t>(first + 128, 200); ++i) {
                    if (std::abs(d.at(0, 7, i)) > std::abs(d.at(0, 7, column))) column = i;
                  }
                  auto* bits = static_cast<std::uint8_t*>(d.element(d.index(0, 7, column)));
                  *bits = static_cast<std::uint8_t>(*bits ^ (fill == Fill::Integers ? 1 : 0x80));
                }),
                1);
    }
    EXPECT_GE(wrong([&](HostProblem& data) {
                HostMatrix& scales = data.tensor(Family::d_scales);
                scales.set(0, 3, 1, scales.at(0, 3, 1) * 1.5);
              }),
              1);
  }
}

// Groups of which one is empty, several tiles and k-tiles; rows of nobody are left alone.
TEST(Requantised, BlocksOfGateAndUpAreJoined) {
  for (const Instance& instance : requantised_instances()) {
    if (!facts_of_instance(instance).gates_blocks) continue;
    Case made = sized(instance, 90, 512, 300);
    made.lists[Family::sizes] = {70, 0, 9};
    made.as<Problem>().matmul.epilogue.activation = TW_SILU;
    made.fill = Fill::Normal;
    const Verified verified(made);
    HostProblem ran = verified.given();
    vgpu::Report report;
    const Status status = simulate(instance, ran.placed(), report);
    ASSERT_TRUE(status.is_good()) << status.sentence();
    EXPECT_EQ(report.verdict(), vgpu::Report::Clean) << instance.name;
    EXPECT_TRUE(verified.compare(ran).good()) << instance.name;
    EXPECT_EQ(ran.tensor(Family::d).columns, 256);
    // A row of nobody that is written is found.
    for (const unsigned tensor : {Family::d, Family::d_scales}) {
      HostProblem spoilt = ran;
      spoilt.tensor(tensor).set(0, 80, 1, 2.0);
      EXPECT_FALSE(verified.compare(spoilt).good());
    }
  }
}

TEST(Requantised, BlocksOfGateAndUpAreRefused) {
  for (const Instance& instance : requantised_instances()) {
    if (!facts_of_instance(instance).gates_blocks) continue;
    HostProblem data = Verified(sized(instance, 20, 512, 64)).given();
    const auto refusal = [&](const auto& change) {
      AnyProblem placed = data.placed();
      change(placed.as<Problem>());
      vgpu::Report report;
      return simulate(instance, placed, report).sentence();
    };
    EXPECT_EQ(refusal([](Problem&) {}), "");
    EXPECT_EQ(refusal([](Problem& p) {
                p.matmul.n = 384;
                p.b_scales.rows = 3;
              }),
              "n is 384, but must be a multiple of 256: blocks of 128 columns are gate and up in "
              "turns.");
    EXPECT_EQ(refusal([](Problem& p) { p.matmul.epilogue.activation = TW_GELU; }),
              "Blocks of gate and up are joined by alpha and silu, relu or nothing: the epilogue "
              "has more parts, or another activation.");
    EXPECT_EQ(refusal([](Problem& p) { p.rows = nullptr; }),
              "This kernel takes rows in groups, but the problem has none.");
  }
  HostProblem data = Verified(sized(requantised_instances()[0], 20, 512, 64)).given();
  AnyProblem placed = data.placed();
  placed.as<Problem>().gated_blocks = 1;
  vgpu::Report report;
  EXPECT_EQ(simulate(requantised_instances()[0], placed, report).sentence(),
            "Blocks of columns are gate and up; this kernel joins none.");
}

// What is refused beside what refusals/requantised.list has.
TEST(Requantised, KernelsRefuseWhatTheyDoNotTake) {
  const Instance& instance = requantised_instances()[0];
  HostProblem data = Verified(sized(instance, 20, 300, 64)).given();
  AnyProblem placed = data.placed();
  vgpu::Report report;
  EXPECT_EQ(simulate(instance, placed, report).sentence(), "");
  placed.as<Problem>().matmul.a.type = TW_E5M2;
  EXPECT_EQ(simulate(instance, placed, report).sentence(),
            "A has type e5m2; this kernel multiplies e4m3.");
}

}  // namespace
}  // namespace tw::tests
