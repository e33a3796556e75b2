// The fuzzer's loop, with cases whose outcome is known.
#include "src/cli/fuzzer.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <set>

namespace tw::cli {
namespace {

// What was judged, by instance: the first random number of each case that ran.
struct Judged {
  std::mutex mutex;
  std::map<std::string, std::multiset<std::uint64_t>> ran;
  unsigned refused = 0;
};

// Refuses a case in `refusals`, and fails those whose number ends with `failing`.
CaseMaker maker_of(const char* instance, Judged& judged, std::uint64_t refusals,
                   std::uint64_t failing = 10) {
  return [=, &judged](std::mt19937_64& random) -> AnyCase {
    const std::uint64_t number = random();
    return {instance, instance + std::string(" of ") + std::to_string(number % 10),
            [=, &judged]() -> Outcome {
              const std::lock_guard lock(judged.mutex);
              if (refusals != 0 && number % refusals == 0) {
                ++judged.refused;
                return {Status::refused("It is one that is refused."), ""};
              }
              judged.ran[instance].insert(number);
              return {Status::good(), number % 10 == failing ? "wrong\n" : ""};
            },
            [=] {
              return ShrunkCase{"one line", "wrong\n"};
            }};
  };
}

int status_of(std::uint64_t problems, std::vector<CaseMaker> makers, std::uint64_t seed = 1) {
  FuzzRequest request;
  request.problems = problems;
  request.seed = seed;
  Verdict verdict;
  fuzz_cases(request, false, std::move(makers), verdict);
  return verdict.status;
}

TEST(Fuzzer, RunsSoManyProblemsInTurnsOfInstances) {
  Judged judged;
  EXPECT_EQ(status_of(50, {maker_of("one", judged, 0), maker_of("other", judged, 2),
                           maker_of("third", judged, 3)}),
            0);
  EXPECT_EQ(judged.ran["one"].size(), 17u);
  EXPECT_EQ(judged.ran["other"].size(), 17u);
  EXPECT_EQ(judged.ran["third"].size(), 16u);
  EXPECT_GT(judged.refused, 10u);
}

TEST(Fuzzer, ASeedStatesProblemsWhateverThreadsDo) {
  Judged first, again, other;
  EXPECT_EQ(status_of(40, {maker_of("one", first, 2)}, 7), 0);
  EXPECT_EQ(status_of(40, {maker_of("one", again, 2)}, 7), 0);
  EXPECT_EQ(status_of(40, {maker_of("one", other, 2)}, 8), 0);
  EXPECT_EQ(first.ran, again.ran);
  EXPECT_NE(first.ran, other.ran);
  const std::multiset<std::uint64_t>& numbers = first.ran["one"];
  EXPECT_EQ(std::set<std::uint64_t>(numbers.begin(), numbers.end()).size(), 40u);
}

TEST(Fuzzer, IsNotContentWhereFewerRanOrOneFailed) {
  Judged judged;
  EXPECT_EQ(status_of(4, {maker_of("one", judged, 0), maker_of("never", judged, 1)}), 1);
  EXPECT_EQ(judged.ran["one"].size(), 2u);
  EXPECT_EQ(judged.refused, 200u);
  EXPECT_EQ(status_of(60, {maker_of("one", judged, 0, 3)}), 1);
}

}  // namespace
}  // namespace tw::cli
