// Every described family on the virtual GPU against its reference, bit by bit.
#include <gtest/gtest.h>

#include "src/run/quantise.h"
#include "src/run/trials.h"
#include "src/run/virtual.h"
#include "tests/families/schedule.h"
#include "tests/families/seed.h"

namespace tw::tests {
namespace {

void expect_clean(const Case& made, std::uint64_t seed) {
  const VirtualRun run = run_virtually(Verified(made), schedule(seed));
  ASSERT_TRUE(run.clean()) << run_line(made) << "\n" << run.complaint();
}

TEST(Described, RandomProblemsOfEveryInstance) {
  Random random(base_seed());
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  const char* count = std::getenv("TW_DESCRIBED_PROBLEMS");
  const int problems = count != nullptr ? std::atoi(count) : 100;  // of each instance
  for (const Trial* trial : all_trials()) {
    for (int i = 0; i < problems; ++i) {
      for (const Instance& instance : trial->instances()) {
        expect_clean(random_case(*trial, instance, random), random());
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Every extent that may be nothing or one is that.
TEST(Described, TakesNothingAndOne) {
  for (const Trial* trial : all_trials()) {
    for (const Instance& instance : trial->instances()) {
      for (const IntegerField& number : trial->description->numbers) {
        for (const std::int64_t value : {0, 1}) {
          Case made = usual_case(*trial, instance);
          number.set(made.problem.data(), value);
          if (check_stated(*trial->description, made.problem.data()).is_good() &&
              serves(made).is_good()) {
            expect_clean(made, 1);
          }
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// A case is what its line says.
TEST(Described, LinesRepeatEveryField) {
  Random random(base_seed());
  for (const Trial* trial : all_trials()) {
    const Case first = random_case(*trial, trial->instances()[0], random);
    for (const IntegerField& number : trial->description->numbers) {
      Case other = first;
      number.set(other.problem.data(), number.get(first.problem.data()) == 0 ? 1 : 0);
      EXPECT_NE(run_line(other), run_line(first)) << number.name;
    }
  }
}

TEST(Described, QuantiseRefusesTheOtherShapeOfBlocks) {
  for (const Instance& instance : quantise_instances()) {
    Case made = usual_case(quantise_trial, instance);
    std::int64_t& rows = made.problem.as<tw_quantise_problem>().scale_rows;
    rows = 129 - rows;
    const VirtualRun run = run_virtually(Verified(made), schedule(1));
    EXPECT_EQ(run.status.sentence(), rows == 128
                                         ? "A scale is of 128 rows; this kernel makes one for 1."
                                         : "A scale is of 1 rows; this kernel makes one for 128.");
  }
}

}  // namespace
}  // namespace tw::tests
