// Products of elements with block scales on the virtual GPU: every format and pair of formats, by
// the tensor core's own scales and by conversion. described_test.cpp has the random problems.
#include "src/families/block_scaled.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#define TW_INSTANCE_WITH_VGPU 1
#include "src/dispatch/choose_launch.h"
#include "src/instances/launcher.h"
#include "src/verify/virtual.h"
#include "tests/families/schedule.h"
#include "tests/vgpu/support.h"
#include "tilewright/arch/sm100_scaled.h"
#include "tilewright/family/block_scaled/launch.h"

namespace tw::tests {
namespace {

using Problem = tw_block_scaled_problem;
using Family = BlockScaledFamily;

const Instance& named(const std::string& name) {
  for (const Instance& instance : block_scaled_instances()) {
    if (instance.name == name) return instance;
  }
  throw std::runtime_error("There is no instance " + name + ".");
}

Case sized(const Instance& instance, std::int64_t m, std::int64_t n, std::int64_t k) {
  Case made = usual_case(block_scaled_trial, instance);
  tw_matmul_problem& matmul = made.as<Problem>().matmul;
  matmul.m = m;
  matmul.n = n;
  matmul.k = k;
  return made;
}

void expect_exact(const Case& made, const vgpu::Options& options) {
  const VirtualRun run = run_virtually(Verified(made), options);
  ASSERT_TRUE(run.clean()) << run_line(made) << "\n" << run.complaint();
  EXPECT_TRUE(run.comparison.exact) << run_line(made);
}

void expect_on_200_schedules(const Instance& instance, std::int64_t m, std::int64_t n,
                             std::int64_t k) {
  for (const vgpu::Landing landing : test::every_landing) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      vgpu::Options options;
      options.landing = landing;
      options.seed = seed;
      options.sm_count = instance.cluster;  // all tiles by one cluster
      Case made = sized(instance, m + static_cast<std::int64_t>(seed), n, k);
      made.seed = seed;
      expect_exact(made, options);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}
TEST(BlockScaled, Mxfp8IsExactAndCleanOn200Schedules) {
  expect_on_200_schedules(named("mxfp8"), 90, 40, 128 * 4 + 96);
}
TEST(BlockScaled, Nvfp4OfPairsIsExactAndCleanOn200Schedules) {
  expect_on_200_schedules(named("nvfp4_pair"), 140, 24, 256 * 4 + 32);
}

TEST(BlockScaled, EveryKernelTakesTilesOfEveryKind) {
  for (const Instance& instance : block_scaled_instances()) {
    const std::int64_t shapes[][3] = {{1, 1, 128}, {128, 128, 128}, {270, 260, 1024}, {7, 9, 0}};
    for (const auto& [m, n, k] : shapes) {
      expect_exact(sized(instance, m, n, k), schedule(3, instance.cluster));
      if (HasFatalFailure()) return;
    }
  }
}

// Tiles of 64 and 192 columns: every other one begins in the middle of a block of scales, also the
// last, which reaches back.
TEST(BlockScaled, TilesBeginInTheMiddleOfABlock) {
  for (const char* name : {"mxfp8_64", "mxfp8_pair_192"}) {
    for (const vgpu::Landing landing : test::every_landing) {
      const Instance& instance = named(name);
      vgpu::Options options;
      options.landing = landing;
      options.sm_count = instance.cluster;
      expect_exact(sized(instance, 300, 650, 300), options);
      if (HasFatalFailure()) return;
    }
  }
}

// A D that is quantised, with its scales, is the A of the next product.
TEST(BlockScaled, ALayerFeedsTheNext) {
  const auto simulate = [](const Case& made, HostProblem& data) {
    const AnyProblem placed = data.placed();
    Checked checked;
    ASSERT_TRUE(check(checked, Family::description, placed.data()).is_good());
    vgpu::Report report;
    const Instance& instance = *made.instance;
    ASSERT_TRUE(instance.simulate(checked, {}, schedule(2, instance.cluster), report).is_good());
    EXPECT_EQ(report.verdict(), vgpu::Report::Clean);
  };
  for (const auto& [layer, next] : {std::pair("mxfp8_to_mxfp8", "mxfp8"),
                                    {"scaled_hopper_to_mxfp8", "scaled_hopper"},
                                    {"scaled_ampere_to_mxfp8", "scaled_ampere"}}) {
    const Case first = sized(named(layer), 150, 208, 160),
               second = sized(named(next), 150, 70, 208);
    HostProblem made = Verified(first).given(), data = Verified(second).given();
    simulate(first, made);
    data.tensor(Family::a).fill([&](auto batch, auto row, auto column) {
      return made.tensor(Family::d).at(batch, row, column);
    });
    const ScaleExtent extent = Family::d_scale_extent(first.problem.as<Problem>());
    HostMatrix &to = data.tensor(Family::a_scales), &from = made.tensor(Family::d_scales);
    for (std::int64_t row = 0; row < extent.rows; ++row) {
      for (std::int64_t scale = 0; scale < extent.scales; ++scale) {
        const std::int64_t at = extent.place(row, scale);
        const std::size_t index = to.index(0, at / to.columns, at % to.columns);
        to.set_code(index, static_cast<std::uint8_t>(from.code(index)));
      }
    }
    const auto answer = block_scaled_trial.answer(second, data);
    simulate(second, data);
    const Comparison comparison = answer->compare(data);
    EXPECT_TRUE(comparison.good()) << next << "\n" << comparison.complaint();
  }
}

// Kernels that convert take what the tensor core's own formats leave.
TEST(BlockScaled, EveryPairOfTypesIsConverted) {
  constexpr tw_type types[] = {TW_E4M3, TW_E5M2, TW_E2M1, TW_E2M3, TW_E3M2};
  for (const char* name : {"scaled_hopper", "scaled_ampere_fp32", "scaled_blackwell"}) {
    for (const tw_type a : types) {
      for (const tw_type b : types) {
        Case made = sized(named(name), 70, 40, 95);
        made.as<Problem>().matmul.a.type = a;
        made.as<Problem>().matmul.b.type = b;
        made.unaligned = a != b;
        expect_exact(made, schedule(1));
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Parts of a matmul that block scales go with as they are.
template <MatmulConfig given>
struct Configured {
  static constexpr MatmulConfig config = given;
  using Kernel = BlockScaled<Sm100Scaled, BlockScaledBy<ScaleType::Ue8m0>, Configured>;
};
constexpr MatmulConfig configured(Tiling tiling, MatmulConfig config) {
  tiling.n = 128;
  tiling.a_type = tiling.b_type = ElementType::E4m3;
  config.tiling = tiling;
  config.d_type = ElementType::Fp32;
  config.multiply_groups = 1;
  return config;
}
template <MatmulConfig config>
void expect_configured() {
  using Kernel = typename Configured<config>::Kernel;
  const Instance instance =
      instance_on_host<LaunchWarpSpecialized<BlockScaledLaunch, Kernel>>("configured");
  Case made = sized(instance, 140, 270, 800);
  made.as<Problem>().matmul.a.column_stride = config.tiling.a_major == Major::K ? 1 : 0;
  made.as<Problem>().matmul.b.column_stride = config.tiling.b_major == Major::K ? 0 : 1;
  vgpu::Options options;
  options.sm_count = 2 * instance.cluster;
  for (const vgpu::Landing landing : test::every_landing) {
    options.landing = landing;
    expect_exact(made, options);
  }
}
TEST(BlockScaled, InClustersThatShareOperands) {
  expect_configured<configured({.cluster = {2, 2}}, {})>();
}
TEST(BlockScaled, InPairsThatShareRows) {
  expect_configured<configured({.cluster = {2, 2}, .group = 2},
                               {.scheduling = Scheduling::Dynamic})>();
}
TEST(BlockScaled, OfBytesThatAreMnMajor) {
  expect_configured<configured({.a_major = Major::MN, .b_major = Major::MN}, {.c_stages = 2})>();
}
TEST(BlockScaled, OfTwoSpansInAStage) { expect_configured<configured({.spans = 2}, {})>(); }

// The same number as number/ has, for every code.
TEST(CodeFormat, KnowsEveryCode) {
  const auto expect_all = [](ElementType type, auto number) {
    using Number = decltype(number);
    for (unsigned code = 0; code < 1u << bits_in(type); ++code) {
      const auto right = static_cast<float>(Number::from_bits(static_cast<std::uint8_t>(code)));
      const float found = CodeFormat::of(type).value(code);
      if (std::isnan(right)) {
        EXPECT_TRUE(std::isnan(found)) << name_of(type) << " " << code;
      } else {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(found), std::bit_cast<std::uint32_t>(right))
            << name_of(type) << " " << code;
      }
    }
  };
  expect_all(ElementType::E4m3, E4m3{});
  expect_all(ElementType::E5m2, E5m2{});
  expect_all(ElementType::E2m3, E2m3{});
  expect_all(ElementType::E3m2, E3m2{});
  expect_all(ElementType::E2m1, E2m1{});
}

// A scale that is NaN makes its row of D, or its column, NaN, and nothing else.
TEST(BlockScaled, NanOfAScaleStaysInItsRow) {
  for (const char* name : {"mxfp8", "scaled_hopper", "scaled_ampere"}) {
    const Verified verified(sized(named(name), 40, 33, 96));
    HostProblem data = verified.given();
    const ScaleExtent extent = ScaleExtent::of(40, 96, ScaleType::Ue8m0);
    HostMatrix& scales = data.tensor(Family::a_scales);
    scales.set_code(scales.index(0, 0, extent.place(35, 2)), Ue8m0::nan_code);
    const AnyProblem placed = data.placed();
    Checked checked;
    ASSERT_TRUE(check(checked, Family::description, placed.data()).is_good());
    vgpu::Report report;
    ASSERT_TRUE(verified.of().instance->simulate(checked, {}, {}, report).is_good());
    EXPECT_EQ(report.verdict(), vgpu::Report::Clean);
    for (std::int64_t row = 0; row < 40; ++row) {
      EXPECT_EQ(std::isnan(data.tensor(Family::d).at(0, row, 5)), row == 35) << name << " " << row;
    }
  }
}

// Who names no kernel gets a pair for a large product, the tensor core's own scales where they may
// be, and conversion elsewhere.
TEST(BlockScaled, TheLibraryChooses) {
  const auto chosen = [](const char* target, const Case& made) -> std::string {
    const AnyProblem problem = problem_without_memory(made);
    Checked checked;
    EXPECT_TRUE(check(checked, Family::description, problem.data()).is_good());
    LaunchChoice choice;
    const Status status = choose_launch<DescribedProducts<block_scaled_instances>>(
        choice, checked, {.target = target, .sms = 148}, nullptr);
    return status.is_good() ? choice.instance->name : status.sentence();
  };
  const Case large = sized(named("mxfp8"), 8192, 8192, 8192);
  EXPECT_EQ(chosen("sm100a", large), "mxfp8_pair");
  EXPECT_EQ(chosen("sm100a", sized(named("mxfp8"), 2048, 3072, 4096)), "mxfp8_pair_192");
  EXPECT_EQ(chosen("sm100a", sized(named("mxfp8"), 256, 2048, 4096)), "mxfp8_64");
  EXPECT_EQ(chosen("sm90a", large), "scaled_hopper");
  EXPECT_EQ(chosen("sm80", large), "scaled_ampere");
  Case mixed = sized(named("mxfp8_mxfp4"), 300, 300, 1024);
  EXPECT_EQ(chosen("sm100a", mixed), "mxfp8_mxfp4");
  mixed.as<Problem>().matmul.k = 1000;
  EXPECT_EQ(chosen("sm100a", mixed), "scaled_blackwell");
}

// What a kernel refuses of problems that are sound, and what no kernel takes.
TEST(BlockScaled, RefusesWithASentence) {
  const auto refusal = [](const char* name, const auto& change) {
    const Verified verified(sized(named(name), 64, 64, 128));
    HostProblem data = verified.given();
    AnyProblem placed = data.placed();
    change(placed.as<Problem>());
    Checked checked;
    const Status status = check(checked, Family::description, placed.data());
    return status.is_good() ? verified.of().instance->supports(checked, {}).sentence()
                            : status.sentence();
  };
  using P = Problem;
  const auto by_columns = [](tw_matrix& matrix) {
    matrix.column_stride = matrix.row_stride;
    matrix.row_stride = 1;
  };
  EXPECT_EQ(refusal("mxfp8", [](P&) {}), "");
  EXPECT_EQ(refusal("scaled_hopper", [](P&) {}), "");
  EXPECT_EQ(refusal("mxfp8", [](P& p) { p.scale = TW_UE4M3; }),
            "The scales are ue4m3, which are for e2m1 times e2m1, not e4m3 times e4m3.");
  EXPECT_EQ(refusal("mxfp4", [](P& p) { p.scale = TW_UE4M3; }),
            "The scales are ue4m3; this kernel multiplies with ue8m0.");
  EXPECT_EQ(refusal("mxfp8", [](P& p) { p.matmul.a.type = TW_BF16; }),
            "A has type bf16, but must be e4m3, e5m2, e2m1, e2m3 or e3m2.");
  EXPECT_EQ(refusal("mxfp8", [](P& p) { p.matmul.b.type = TW_E5M2; }),
            "B has type e5m2; this kernel multiplies e4m3.");
  EXPECT_EQ(refusal("mxfp8", [](P& p) { p.b_scales = nullptr; }),
            "The address of the scales of B is null.");
  EXPECT_EQ(refusal("mxfp8", [](P& p) { p.a_scales = static_cast<const char*>(p.a_scales) + 8; }),
            "The scales of A must begin at a multiple of 16 bytes for this kernel.");
  EXPECT_EQ(refusal("mxfp8", [](P& p) { p.matmul.a.row_stride = 136; }),
            "The lines of A (pitch 136 elements of 8 bits) must begin at multiples of 16 bytes for "
            "this kernel.");
  EXPECT_EQ(refusal("nvfp4", [](P& p) { p.matmul.b.column_stride = 144; }),
            "The lines of B (pitch 144 elements of 4 bits) must begin at multiples of 16 bytes for "
            "this kernel.");
  // Elements that share bytes: a line begins at a byte.
  EXPECT_EQ(refusal("scaled_ampere",
                    [](P& p) {
                      p.matmul.a.type = TW_E2M1;
                      p.matmul.a.row_stride = 129;
                    }),
            "The pitch of A is 129 elements of 4 bits, but lines must begin at whole bytes.");
  EXPECT_EQ(refusal("nvfp4", [](P& p) { p.matmul.k = 127; }),
            "k is 127, but this kernel takes packed elements in pairs: an even k.");
  EXPECT_EQ(refusal("scaled_ampere", [](P& p) { p.matmul.k = 127; }), "");
  EXPECT_EQ(refusal("nvfp4", [&](P& p) { by_columns(p.matmul.a); }),
            "A is MN-major; elements of 4 bits must be K-major.");
  EXPECT_EQ(refusal("scaled_hopper", [&](P& p) { by_columns(p.matmul.a); }), "");
  EXPECT_EQ(refusal("mxfp8_mxfp4", [](P& p) { p.matmul.k = 96; }),
            "k is 96, but this kernel multiplies e2m1 with another type, which needs a multiple of "
            "128.");
  EXPECT_EQ(refusal("mxfp8_mxfp4", [](P& p) { p.matmul.b.column_stride = 160; }),
            "The lines of B (pitch 160 elements of 4 bits) must begin at multiples of 32 bytes for "
            "this kernel.");
}

}  // namespace
}  // namespace tw::tests
