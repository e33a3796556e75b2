// Grouped matmul on the GPU against the direct product on the host.
#include <map>
#include <tuple>

#include "src/matmul/gpu.h"
#include "tests/families/grouped_problems.h"
#include "tests/gpu/on_device.h"

namespace tw::tests {
namespace {

std::vector<const GroupedInstance*> instances_here() {
  std::vector<const GroupedInstance*> here;
  for (const GroupedInstance& instance : grouped_instances()) {
    if (runs_here(instance.target)) here.push_back(&instance);
  }
  return here;
}

void expect_right(const GroupedInstance& instance, VerifiedGrouped problem, Fill fill,
                  std::uint64_t seed) {
  const std::string line = run_line(instance, problem.shape, fill, seed);
  OnDevice device(problem.data.matmul);
  device.add(problem.data.rows);
  for (HostMatrix* matrix : {&problem.data.index, &problem.data.a_scales, &problem.data.b_scales}) {
    device.add(*matrix);
  }
  const GroupedProblem given = grouped_at(
      problem.data, problem.shape, [&](HostMatrix& matrix) { return device.address(matrix); });
  const Status status = instance.launch(given, {}, nullptr);
  ASSERT_TRUE(status.is_good()) << line << "\n" << status.sentence();
  wait_or_exit(line);
  device.read_outputs();
  judge_other_rows(problem.data, problem.shape);
  const Comparison comparison = compare(problem.data.matmul, problem.reference);
  ASSERT_TRUE(comparison.good()) << line << "\n" << comparison.complaint();
}

TEST(GroupedGpu, ComputesRandomProblemsExactly) {
  if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  Random random(base_seed());
  for (int i = 0; i < 80; ++i) {
    for (const GroupedInstance* instance : instances_here()) {
      const Fill fills[] = {Fill::Integers, Fill::Position, Fill::Integers, Fill::Normal};
      const std::uint64_t seed = base_seed() + static_cast<std::uint64_t>(i);
      const GroupedShape shape = random_shape(*instance, random);
      expect_right(*instance, VerifiedGrouped(shape, fills[i % 4], seed), fills[i % 4], seed);
      if (HasFatalFailure()) return;
    }
  }
}

// Many groups, several tiles for every CTA, many laps of the ring.
TEST(GroupedGpu, ComputesALargeProblemExactly) {
  if (!why_no_gpu().empty()) GTEST_SKIP() << why_no_gpu();
  Random random(base_seed());
  std::vector<std::int32_t> sizes;
  for (int i = 0; i < 64; ++i) sizes.push_back(static_cast<std::int32_t>(between(random, 0, 40)));
  sizes[5] = 700;
  sizes[6] = 0;
  // Most of the time is the host's: instances of one kind share the answers.
  std::map<std::tuple<bool, unsigned, std::int64_t>, VerifiedGrouped> known;
  for (const GroupedInstance* instance : instances_here()) {
    for (const std::int64_t capacity : {0, 704}) {
      const auto some = sizes.begin() + (capacity > 0 ? 8 : 64);
      GroupedShape shape = shape_for(*instance, {sizes.begin(), some}, 3, capacity);
      shape.matmul.n = 1100;
      shape.matmul.k = 520;
      const std::tuple kind(instance->gathers, instance->b_scale_rows, capacity);
      const auto [verified, is_new] = known.try_emplace(kind, shape, Fill::Integers, 3);
      expect_right(*instance, verified->second, Fill::Integers, 3);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace tw::tests
