// Products in groups on the virtual GPU: groups of any size, D in place, whatever the device says.
// described_test.cpp has the random problems.
#include "src/families/grouped.h"

#include <gtest/gtest.h>

#include <limits>

#include "src/verify/product.h"
#include "src/verify/random_epilogue.h"
#include "src/verify/virtual.h"
#include "tests/families/schedule.h"
#include "tests/families/seed.h"
#include "tilewright/family/grouped/launch.h"

namespace tw::tests {
namespace {

using Problem = tw_grouped_problem;

// Where the tensor core takes scales, groups begin with their blocks.
bool begins_with_blocks(const Instance& instance) {
  const auto& facts = *static_cast<const GroupedFacts*>(instance.facts);
  return facts.block_scales.present && !facts.block_scales.converts;
}

Case sized(const Instance& instance, const std::vector<std::int64_t>& sizes, std::int64_t spare,
           std::int64_t capacity, std::int64_t n, std::int64_t k) {
  Case made = usual_case(grouped_trial, instance);
  if (begins_with_blocks(instance)) {
    for (const std::int64_t size : sizes) capacity = std::max(capacity, size);
    capacity = std::max<std::int64_t>((capacity + 127) / 128, 1) * 128;
    spare = 0;
  }
  made.lists = {sizes, {spare}};
  made.as<Problem>().capacity = capacity;
  made.as<Problem>().matmul.n = n;
  made.as<Problem>().matmul.k = k;
  return made;
}

std::int64_t tile_rows(const Instance& instance) {
  return static_cast<std::int64_t>(config_of(instance).output_rows());
}

void expect_exact(const Case& made) {
  const VirtualRun run = run_virtually(Verified(made), schedule(4, made.instance->cluster));
  ASSERT_TRUE(run.clean()) << run_line(made) << "\n" << run.complaint();
  EXPECT_TRUE(run.comparison.exact) << run_line(made);
}

// Random problems of integers, with an epilogue that keeps them integers, leave nothing to a bound.
// described_test.cpp judges random data and any epilogue by derived bounds.
TEST(Grouped, RandomProblemsOfIntegersAreExact) {
  Random random(base_seed());
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  for (const Instance& instance : grouped_instances()) {
    for (const Fill fill : {Fill::Integers, Fill::Position}) {
      Case made = random_case(grouped_trial, instance, random);
      made.fill = fill;
      Dice dice(random);
      EpilogueShape epilogue = random_integer_epilogue(dice);
      if (config_of(instance).plain_epilogue != 0) epilogue = {};
      set_epilogue(made.as<Problem>().matmul.epilogue, epilogue);
      ASSERT_TRUE(serves(made).is_good()) << serves(made).sentence();
      expect_exact(made);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Grouped, TakesGroupsOfNothingOneAndMany) {
  for (const Instance& instance : grouped_instances()) {
    const std::int64_t tile = tile_rows(instance);
    const std::vector<std::int64_t> mixed[] = {
        {0}, {0, 0, 0}, {1}, {0, 1, 0, 1, 0}, {6 * tile + 1, 1, 0, tile, 2 * tile - 1}};
    for (const auto& sizes : mixed) {
      for (const std::int64_t k : {0, 72}) {
        const std::int64_t capacity = *std::max_element(sizes.begin(), sizes.end()) + 3;
        expect_exact(sized(instance, sizes, 7, 0, 72, k));
        expect_exact(sized(instance, sizes, 0, capacity, 72, k));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Rows of nobody are left alone by what the epilogue writes, too, and do not count for amax.
TEST(Grouped, WritesAuxiliaryAndAmaxOfGroupsAlone) {
  for (const Instance& instance : grouped_instances()) {
    if (config_of(instance).plain_epilogue != 0) continue;
    for (const std::int64_t capacity : {0, 50}) {
      Case made = sized(instance, {40, 0, 9}, capacity > 0 ? 0 : 30, capacity, 48, 40);
      EpilogueShape epilogue;
      epilogue.auxiliary = epilogue.amax = epilogue.row_bias = true;
      set_epilogue(made.as<Problem>().matmul.epilogue, epilogue);
      expect_exact(made);
      if (HasFatalFailure()) return;
    }
  }
}

Status simulate(const Instance& instance, const AnyProblem& problem, vgpu::Report& report) {
  Checked checked;
  Status status = check(checked, GroupedFamily::description, problem.data());
  if (!status.is_good()) return status;
  return instance.simulate(checked, {}, schedule(2, instance.cluster), report);
}

// D is read as C: a row that is stored twice would be added to twice.
TEST(Grouped, AddsToDInPlace) {
  for (const Instance& instance : grouped_instances()) {
    if (config_of(instance).plain_epilogue != 0) continue;
    if (is_integer(config_of(instance).d_type)) continue;  // C is no s32
    const std::int64_t tile = tile_rows(instance);
    // All rows are of groups.
    const std::vector<std::int64_t> sizes =
        begins_with_blocks(instance) ? std::vector<std::int64_t>{256, 256}
                                     : std::vector<std::int64_t>{2 * tile + 3, 5, tile + 1};
    Case made = sized(instance, sizes, 0, 0, 64, 64);
    EpilogueShape epilogue;
    epilogue.beta = 1.0f;
    epilogue.source_type = config_of(instance).d_type;
    set_epilogue(made.as<Problem>().matmul.epilogue, epilogue);
    const Verified verified(made);
    HostProblem data = verified.given();
    const HostMatrix& source = data.tensor(data.description().tensors.size());
    data.tensor(GroupedFamily::d).fill([&](auto, std::int64_t row, std::int64_t column) {
      return source.at(0, row, column);
    });
    AnyProblem placed = data.placed();
    placed.as<Problem>().matmul.epilogue.source = placed.as<Problem>().matmul.d;
    vgpu::Report report;
    const Status status = simulate(instance, placed, report);
    ASSERT_TRUE(status.is_good()) << status.sentence();
    EXPECT_EQ(report.verdict(), vgpu::Report::Clean);
    const Comparison comparison = verified.compare(data);
    EXPECT_TRUE(comparison.good()) << instance.name << "\n" << comparison.complaint();
  }
}

// Nobody can check what lies on the device: a number that cannot be must not lead outside of D.
TEST(Grouped, StaysInsideWhateverTheDeviceSays) {
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  for (const Instance& instance : grouped_instances()) {
    for (const std::int64_t capacity : {0, 40}) {
      const Case made = sized(instance, {40, 40, 40}, 0, capacity, 64, 64);
      for (const auto& rows :
           {std::vector{most, least, 41}, std::vector{-1, 200, 3}, std::vector{100, 50, most}}) {
        HostProblem data = Verified(made).given();
        for (int group = 0; group < 3; ++group) {
          data.tensor(GroupedFamily::rows).set(0, 0, group, rows[group]);
        }
        vgpu::Report report;
        const Status status = simulate(instance, data.placed(), report);
        ASSERT_TRUE(status.is_good()) << status.sentence();
        EXPECT_EQ(report.verdict(), vgpu::Report::Clean) << instance.name;
        EXPECT_EQ(data.tensor(GroupedFamily::d).padding_touched(), 0) << instance.name;
      }
    }
  }
}

const Instance& named(const std::string& name) {
  for (const Instance& instance : grouped_instances()) {
    if (instance.name == name) return instance;
  }
  throw std::runtime_error("There is no instance " + name + ".");
}

// What a kernel refuses of problems that are sound: refusals/grouped.list has the others.
TEST(Grouped, KernelsRefuseWhatTheyDoNotTake) {
  const auto refusal = [](const char* name, const auto& change) {
    const Case made = sized(named(name), {40, 0, 35}, 5, 0, 64, 64);
    HostProblem data = Verified(made).given();
    AnyProblem placed = data.placed();
    change(placed.as<Problem>());
    vgpu::Report report;
    return simulate(*made.instance, placed, report).sentence();
  };
  using P = Problem;
  EXPECT_EQ(refusal("grouped_128x256", [](P&) {}), "");
  EXPECT_EQ(refusal("grouped_fp8_64x128", [](P&) {}), "");
  EXPECT_EQ(refusal("gather_128x256", [](P&) {}), "");
  EXPECT_EQ(refusal("gather_128x256", [](P& p) { p.row_index = nullptr; }),
            "This kernel gathers rows of A, but there is no row index.");
  EXPECT_EQ(refusal("grouped_128x256",
                    [](P& p) {
                      p.row_index = p.rows;
                      p.a_rows = 5;
                    }),
            "This kernel takes rows of A as they lie: no row index.");
  EXPECT_EQ(refusal("grouped_128x256",
                    [](P& p) {
                      p.matmul.a.row_stride = 1;
                      p.matmul.a.column_stride = 80;
                    }),
            "A is MN-major; this kernel reads it K-major.");
  EXPECT_EQ(
      refusal("grouped_fp8_64x128", [](P& p) { p.a_scales.data = p.b_scales.data = nullptr; }),
      "This kernel takes scales of blocks, but there are none.");
  EXPECT_EQ(refusal("grouped_fp8_64x128",
                    [](P& p) {
                      p.b_scales.rows = p.b_scales.k_stride = 64;
                      p.b_scales.row_stride = 1;
                    }),
            "The scales of B are 64 x 1, but must be 1 x 1: one for each 128 rows and each 128 of "
            "k.");
}

}  // namespace
}  // namespace tw::tests
