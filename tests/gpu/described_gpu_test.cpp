// Every described family on the GPU against its reference.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/families/grouped.h"
#include "src/families/quantise.h"
#include "src/verify/gpu.h"
#include "src/verify/on_gpu.h"
#include "src/verify/trials.h"
#include "tests/families/seed.h"

namespace tw::tests {
namespace {

void expect_right(const Case& made) {
  const Result<Comparison> ran = run_on_gpu(Verified(made, true));
  ASSERT_TRUE(ran.status.is_good()) << run_line(made) << "\n" << ran.status.sentence();
  ASSERT_TRUE(ran.value->good()) << run_line(made) << "\n" << ran.value->complaint();
}

class DescribedGpu : public ::testing::TestWithParam<const Trial*> {};

// 150 of each instance, fewer where a family has more than 8: about 1,200 of the family, at least
// 8 of each instance. Most of the time is the reference's, on the host.
TEST_P(DescribedGpu, RandomProblemsOfEveryInstance) {
  if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  Random random(base_seed());
  std::vector<const Instance*> instances;
  for (const Instance& instance : GetParam()->instances()) {
    if (why_not_on_gpu(instance).empty()) instances.push_back(&instance);
  }
  if (instances.empty()) GTEST_SKIP() << "No kernel of this family runs on this GPU.";
  const int rounds = std::clamp(1200 / static_cast<int>(instances.size()), 8, 150);
  for (int i = 0; i < rounds; ++i) {
    for (const Instance* instance : instances) {
      expect_right(random_case(*GetParam(), *instance, random));
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, DescribedGpu, ::testing::ValuesIn(all_trials()),
                         [](const auto& trial) { return trial.param->description->name; });

// Many groups, several tiles for every CTA, many laps of the ring.
TEST(LargeGpu, ComputesManyGroups) {
  if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  Random random(base_seed());
  std::vector<std::int64_t> sizes;
  for (int i = 0; i < 64; ++i) sizes.push_back(between(random, 0, 40));
  sizes[5] = 700;
  sizes[6] = 0;
  for (const Instance& instance : grouped_instances()) {
    if (!why_not_on_gpu(instance).empty()) continue;
    for (const std::int64_t capacity : {0, 704}) {
      Case made = usual_case(grouped_trial, instance);
      made.lists = {sizes, {capacity > 0 ? 0 : 3}};
      if (capacity > 0) made.lists.front().resize(8);
      auto& problem = made.as<tw_grouped_problem>();
      problem.capacity = capacity;
      problem.matmul.n = 1100;
      problem.matmul.k = 520;
      expect_right(made);
      if (HasFatalFailure()) return;
    }
  }
}

// Several tiles for every CTA: sets of maxima are used again and again.
TEST(LargeGpu, QuantisesALargeMatrix) {
  if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  for (const Instance& instance : quantise_instances()) {
    if (!why_not_on_gpu(instance).empty()) continue;
    Case made = usual_case(quantise_trial, instance);
    auto& problem = made.problem.as<tw_quantise_problem>();
    problem.m = 3001;
    problem.k = 7168;
    made.fill = Fill::Normal;
    expect_right(made);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace tw::tests
