#include <gtest/gtest.h>

#include "tests/families/grouped_problems.h"
#include "tests/families/schedule.h"

namespace tw::tests {
namespace {

void expect_exact(const GroupedInstance& instance, const GroupedShape& shape, Fill fill,
                  std::uint64_t seed) {
  const VirtualRun run = run_virtually(instance, VerifiedGrouped(shape, fill, seed),
                                       schedule(seed, instance.config.tiling.cluster.size()));
  const std::string line = run_line(instance, shape, fill, seed);
  ASSERT_TRUE(run.clean()) << line << "\n" << run.complaint();
  EXPECT_TRUE(run.comparison.exact || fill == Fill::Normal) << line;
}

TEST(Grouped, ComputesRandomProblemsExactlyOnTheVirtualGpu) {
  Random random(base_seed());
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  const char* count = std::getenv("TW_GROUPED_PROBLEMS");
  const int problems = count != nullptr ? std::atoi(count) : 300;
  for (int i = 0; i < problems; ++i) {
    const auto instances = grouped_instances();
    const GroupedInstance& instance = instances[static_cast<std::size_t>(i) % instances.size()];
    const GroupedShape shape = random_shape(instance, random);
    expect_exact(instance, shape, i % 3 == 2 ? Fill::Position : Fill::Integers,
                 base_seed() + static_cast<std::uint64_t>(i));
    if (HasFatalFailure()) return;
  }
}

TEST(Grouped, KeepsRandomDataWithinTheDerivedBound) {
  Random random(base_seed() + 1);
  for (const GroupedInstance& instance : grouped_instances()) {
    expect_exact(instance, random_shape(instance, random), Fill::Normal, base_seed());
  }
}

TEST(Grouped, TakesGroupsOfNothingOneAndMany) {
  for (const GroupedInstance& instance : grouped_instances()) {
    const auto tile = static_cast<std::int32_t>(instance.config.output_rows());
    const std::vector<std::int32_t> mixed[] = {
        {0}, {0, 0, 0}, {1}, {0, 1, 0, 1, 0}, {6 * tile + 1, 1, 0, tile, 2 * tile - 1}};
    for (const auto& sizes : mixed) {
      for (const std::int64_t k : {0, 72}) {
        for (const bool masked : {false, true}) {
          const std::int64_t capacity = *std::max_element(sizes.begin(), sizes.end()) + 3;
          GroupedShape shape = shape_for(instance, sizes, 7, masked ? capacity : 0);
          shape.matmul.n = 72;
          shape.matmul.k = k;
          expect_exact(instance, shape, Fill::Integers, 4);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// D is read as C: a row that is stored twice would be added to twice.
TEST(Grouped, AddsToDInPlace) {
  for (const GroupedInstance& instance : grouped_instances()) {
    const auto tile = static_cast<std::int32_t>(instance.config.output_rows());
    GroupedShape shape = shape_for(instance, {2 * tile + 3, 5, tile + 1}, 0, 0);
    shape.matmul.n = 64;
    shape.matmul.k = 64;
    shape.matmul.epilogue.beta = 1.0f;
    VerifiedGrouped problem(shape, Fill::Integers, 1);
    GroupedProblem given = grouped_on_host(problem.data, shape);
    HostMatrix& d = problem.data.matmul.d;
    d.fill([&](std::int64_t, std::int64_t row, std::int64_t column) {
      return problem.data.matmul.source.at(0, row, column);
    });
    given.matmul.epilogue.source = given.matmul.d.data;
    given.matmul.epilogue.source_pitch = given.matmul.d.pitch;
    vgpu::Report report;
    const Status status =
        instance.simulate(given, {}, schedule(2, instance.config.tiling.cluster.size()), report);
    ASSERT_TRUE(status.is_good()) << status.sentence();
    EXPECT_EQ(report.verdict(), vgpu::Report::Clean);
    const Comparison comparison = compare(problem.data.matmul, problem.reference);
    EXPECT_TRUE(comparison.good()) << instance.name << "\n" << comparison.complaint();
  }
}

// Nobody can check what lies on the device: a number that cannot be must not lead outside of D.
TEST(Grouped, StaysInsideWhateverTheDeviceSays) {
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  for (const GroupedInstance& instance : grouped_instances()) {
    for (const std::int64_t capacity : {0, 40}) {
      GroupedShape shape = shape_for(instance, {40, 40, 40}, 0, capacity);
      shape.matmul.n = 64;
      shape.matmul.k = 64;
      GroupedData data = make_grouped_data(shape, Fill::Integers, 1);
      for (const auto& rows :
           {std::vector{most, least, 41}, std::vector{-1, 200, 3}, std::vector{100, 50, most}}) {
        for (int group = 0; group < 3; ++group) data.rows.set(0, 0, group, rows[group]);
        vgpu::Report report;
        const Status status =
            instance.simulate(grouped_on_host(data, shape), {},
                              schedule(1, instance.config.tiling.cluster.size()), report);
        ASSERT_TRUE(status.is_good()) << status.sentence();
        EXPECT_EQ(report.verdict(), vgpu::Report::Clean) << instance.name;
        EXPECT_EQ(data.matmul.d.padding_touched(), 0) << instance.name;
      }
    }
  }
}

const GroupedInstance& named(const std::string& name) {
  for (const GroupedInstance& instance : grouped_instances()) {
    if (instance.name == name) return instance;
  }
  throw std::runtime_error("There is no instance " + name + ".");
}

std::string refusal_of(const GroupedInstance& instance, std::int64_t capacity,
                       const std::function<void(GroupedProblem&)>& change) {
  GroupedShape shape = shape_for(instance, {40, 0, 35}, 5, capacity);
  shape.matmul.n = 64;
  shape.matmul.k = 64;
  GroupedData data = make_grouped_data(shape, Fill::Integers, 1);
  GroupedProblem problem = grouped_on_host(data, shape);
  change(problem);
  vgpu::Report report;
  return instance.simulate(problem, {}, schedule(1, instance.config.tiling.cluster.size()), report)
      .sentence();
}

TEST(Grouped, RefusesWithASentence) {
  const auto refusal = [](std::int64_t capacity, const auto& change) {
    return refusal_of(named("grouped_128x256"), capacity, change);
  };
  using P = GroupedProblem;
  EXPECT_EQ(refusal(0, [](P&) {}), "");
  EXPECT_EQ(refusal(50, [](P&) {}), "");
  EXPECT_EQ(refusal(0, [](P& p) { p.rows = nullptr; }), "The address of the groups' rows is null.");
  EXPECT_EQ(refusal(0,
                    [](P& p) {
                      p.rows = reinterpret_cast<const std::int32_t*>(
                          reinterpret_cast<const char*>(p.rows) + 2);
                    }),
            "The address of the groups' rows is not a multiple of 4 bytes, its element's size.");
  EXPECT_EQ(refusal(50, [](P& p) { p.capacity = 51; }),
            "m is 150, but must be the capacity, 51 rows, times the number of groups, 3.");
  EXPECT_EQ(refusal(50, [](P& p) { p.capacity = -1; }),
            "The capacity is -1 rows, but must be at least 0 and below 2^31.");
  EXPECT_EQ(refusal(0, [](P& p) { p.matmul.batch = -1; }),
            "batch = -1 must be at least 0 and below 2^31 - 256.");
  EXPECT_EQ(refusal(0, [](P& p) { p.matmul.b.batch_pitch = -64; }),
            "The batch pitch of B is -64 elements, but must not be negative.");
  EXPECT_EQ(refusal(0, [](P& p) { p.matmul.d.pitch = 60; }),
            "The pitch of D is 60 elements, but its lines have 64.");
  EXPECT_EQ(refusal(0,
                    [](P& p) {
                      p.matmul.a.major = Major::MN;
                      p.matmul.a.pitch = 80;
                    }),
            "A is MN-major; this kernel reads it K-major.");
}

TEST(Grouped, RefusesScalesOfAnotherShape) {
  const auto refusal = [](const auto& change) {
    return refusal_of(named("grouped_fp8_64x128"), 0, change);
  };
  using P = GroupedProblem;
  EXPECT_EQ(refusal([](P&) {}), "");
  EXPECT_EQ(refusal([](P& p) { p.a_scales.rows = 79; }),
            "The scales of A are 79 x 1, but must be 80 x 1: one for each row and each 128 of k.");
  EXPECT_EQ(refusal([](P& p) { p.b_scales.tensor.data = nullptr; }),
            "The address of the scales of B is null.");
  EXPECT_EQ(refusal([](P& p) { p.b_scales.tensor.batch_pitch = 1 << 30; }),
            "The scales of B of 3 groups are 1073741824 elements apart, but must reach over less "
            "than 2^31 elements.");
}

TEST(Grouped, RefusesRowsThatCannotBeGathered) {
  const auto refusal = [](const char* name, const auto& change) {
    return refusal_of(named(name), 0, change);
  };
  using P = GroupedProblem;
  EXPECT_EQ(refusal("gather_128x256", [](P&) {}), "");
  EXPECT_EQ(refusal("gather_128x256", [](P& p) { p.row_index = nullptr; }),
            "The address of the row index is null.");
  EXPECT_EQ(refusal("gather_128x256", [](P& p) { p.a_rows = 0; }),
            "This kernel gathers rows of A, but there is no row index.");
  EXPECT_EQ(refusal("grouped_128x256",
                    [](P& p) {
                      p.row_index = p.rows;
                      p.a_rows = 5;
                    }),
            "This kernel takes rows of A as they lie: no row index.");
  EXPECT_EQ(refusal("gather_128x256", [](P& p) { p.a_rows = -1; }),
            "Rows are gathered from -1 rows of A, but must be from at least 1 and below 2^31.");
  EXPECT_EQ(refusal("gather_128x256",
                    [](P& p) {
                      p.row_index = reinterpret_cast<const std::int32_t*>(
                          reinterpret_cast<const char*>(p.row_index) + 1);
                    }),
            "The address of the row index is not a multiple of 4 bytes, its element's size.");
}

}  // namespace
}  // namespace tw::tests
