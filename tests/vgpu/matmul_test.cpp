// The machine at work on a whole kernel: results, schedules, replay, and one planted bug at a time.
#include <set>

#include "tests/vgpu/ring_matmul.h"
#include "tests/vgpu/support.h"

namespace tw::test {
namespace {

TEST(Matmul, IsExactAndCleanUnderEverySchedule) {
  for (const Landing landing : every_landing) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      RingMatmul matmul(200, 136, 264, 64);
      EXPECT_TRUE(clean(matmul.run({.landing = landing, .seed = seed})));
      EXPECT_TRUE(matmul.correct()) << vgpu::name_of(landing) << " seed " << seed;
    }
  }
}

TEST(Matmul, WideTilesAndOneCtaPerMultiprocessor) {
  RingMatmul matmul(257, 264, 136, 256);
  matmul.ctas = 6;
  EXPECT_TRUE(clean(matmul.run({.sm_count = 2})));
  EXPECT_TRUE(matmul.correct());
}

TEST(Matmul, IsExactWithoutChecking) {
  RingMatmul matmul(200, 136, 264, 128);
  EXPECT_TRUE(clean(matmul.run({.check = false})));
  EXPECT_TRUE(matmul.correct());
}

TEST(Matmul, ASeedReplaysTheSameRun) {
  const auto run = [](Landing landing, std::uint64_t seed, Bug bug) {
    RingMatmul matmul(200, 136, 520, 64, bug);
    return matmul.run({.landing = landing, .seed = seed});
  };
  for (const Landing landing : every_landing) {
    for (const Bug bug : {Bug::None, Bug::NoWaitForEmpty, Bug::ConsumerStaysBehind}) {
      const Report first = run(landing, 5, bug);
      const Report second = run(landing, 5, bug);
      EXPECT_EQ(text_of(first), text_of(second));
      EXPECT_EQ(first.steps, second.steps);
      EXPECT_EQ(first.virtual_nanoseconds, second.virtual_nanoseconds);
    }
  }
}

TEST(Matmul, SeedsAreDifferentSchedules) {
  std::set<std::string> reports;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    RingMatmul matmul(200, 136, 520, 64, Bug::NoWaitForEmpty);
    reports.insert(text_of(matmul.run({.landing = Landing::Random, .seed = seed})));
  }
  EXPECT_GT(reports.size(), 4u);
}

struct Planted {
  Bug bug;
  const char* name;
  Checker checker;
  const char* role;  // how it begins
};

struct PlantedTest : ::testing::TestWithParam<Planted> {
  static Report run(Bug bug, const vgpu::Options& options) {
    RingMatmul matmul(200, 136, 520, 64, bug);
    return matmul.run(options);
  }
};

TEST_P(PlantedTest, IsFoundUnderEveryScheduleWithItsRole) {
  const Planted& planted = GetParam();
  for (const Landing landing : every_landing) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Report report =
          run(planted.bug, {.landing = landing, .seed = seed, .max_findings = 40});
      const vgpu::Finding* finding = find(report, planted.checker);
      ASSERT_NE(finding, nullptr) << vgpu::name_of(landing) << " seed " << seed << "\n"
                                  << text_of(report);
      EXPECT_EQ(finding->role.rfind(planted.role, 0), 0u) << text_of(report);
    }
  }
}

TEST_P(PlantedTest, IsMissedWithoutItsChecker) {
  vgpu::Options options;
  options.disabled = {GetParam().checker};
  const Report report = run(GetParam().bug, options);
  EXPECT_EQ(find(report, GetParam().checker), nullptr) << text_of(report);
}

INSTANTIATE_TEST_SUITE_P(
    , PlantedTest,
    ::testing::Values(
        Planted{Bug::NoWaitForFull, "NoWaitForFull", Checker::ReadBeforeFull, "multiply"},
        Planted{Bug::NoWaitForEmpty, "NoWaitForEmpty", Checker::OverwriteWhileRead, "load"},
        Planted{Bug::ReleaseBeforeWait, "ReleaseBeforeWait", Checker::OverwriteWhileRead, "load"},
        Planted{Bug::NoProxyFence, "NoProxyFence", Checker::MissingProxyFence, "multiply"},
        Planted{Bug::NoBarrierBeforeStore, "NoBarrierBeforeStore", Checker::Race, "multiply"},
        Planted{Bug::NoStoreWait, "NoStoreWait", Checker::OverwriteWhileRead, "multiply"},
        Planted{Bug::NoWgmmaWait, "NoWgmmaWait", Checker::AccumulatorInFlight, "multiply"},
        Planted{Bug::NoWgmmaFence, "NoWgmmaFence", Checker::MissingWgmmaFence, "multiply"},
        Planted{Bug::TooFewBytes, "TooFewBytes", Checker::TransactionBytes, "load"},
        Planted{Bug::TooManyBytes, "TooManyBytes", Checker::TransactionBytes, "load"},
        Planted{Bug::TooManyArrivals, "TooManyArrivals", Checker::ArrivalCount, "load"},
        Planted{Bug::NoInitFence, "NoInitFence", Checker::BarrierLife, "load"},
        Planted{Bug::WrongParity, "WrongParity", Checker::Deadlock, "load"},
        Planted{Bug::WrongOperand, "WrongOperand", Checker::WrongStep, "multiply 1"},
        Planted{Bug::ExitWithStores, "ExitWithStores", Checker::InFlightAtExit, "multiply"},
        Planted{Bug::ExitWithLoads, "ExitWithLoads", Checker::InFlightAtExit, "load"},
        Planted{Bug::StoreOutside, "StoreOutside", Checker::Bounds, "multiply"},
        Planted{Bug::NoRelease, "NoRelease", Checker::Deadlock, "load"}),
    [](const auto& info) { return info.param.name; });

// These break in different ways under different schedules; none may pass.
TEST(Matmul, NoScheduleHidesASlippedRing) {
  for (const Bug bug : {Bug::TooFewArrivals, Bug::NoInitBarrier, Bug::ConsumerStaysBehind}) {
    for (const Landing landing : every_landing) {
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        RingMatmul matmul(200, 136, 520, 64, bug);
        const Report report = matmul.run({.landing = landing, .seed = seed});
        EXPECT_EQ(report.verdict(), Report::Found) << static_cast<int>(bug);
      }
    }
  }
}

}  // namespace
}  // namespace tw::test
