// Block-scaled products on sm_100a: exact and clean on every schedule, in every format, by one CTA
// and by pairs.
#include "tilewright/host/block_scaled.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "tests/families/seed.h"
#include "tests/programs/block_scaled_case.h"
#include "tests/vgpu/support.h"
#include "tilewright/arch/sm100_scaled.h"
#include "vgpu/tensor_map.h"

namespace tw::programs {
namespace {

using Type = ElementType;

template <Type a, Type b, ScaleType scale, unsigned n, unsigned pair = 1, Type d = Type::Fp32>
struct Named {
  static constexpr ScaleType scale_type = scale;
  static constexpr MatmulConfig config = {
      .tiling = {.n = n, .a_type = a, .b_type = b, .cluster = {pair, 1}, .group = pair},
      .d_type = d,
      .multiply_groups = 1};
  using Kernel = tw::Kernel<Sm100Scaled, BlockScaledRecipe<scale>, Named>;
};

template <class Named>
vgpu::Report run(ScaledCase& data, const vgpu::Options& options) {
  using Parts = typename Named::Kernel;
  using Kernel = kernel::WarpSpecialized<Parts>;
  typename Kernel::Params params;
  MatmulGrid grid = {};
  const Status status =
      plan<Parts>(params, grid, data.problem(), {}, options.sm_count / Parts::tiling.cluster.size(),
                  {}, encode_for_virtual);
  EXPECT_TRUE(status.is_good()) << status.sentence();
  return vgpu::run({grid.ctas, grid.cluster_size, grid.threads, grid.shared_bytes,
                    [&params] { Kernel::run(params); }},
                   data.touched(), options);
}

template <class Named>
void expect(std::int64_t m, std::int64_t n, std::int64_t k, ScaledFill fill, std::uint32_t seed,
            vgpu::Options options = {}) {
  ScaledCase data(Named::config, Named::scale_type, m, n, k, fill, seed);
  options.seed = seed;
  const vgpu::Report report = run<Named>(data, options);
  ASSERT_TRUE(test::clean(report)) << name_of(options.landing) << ", seed " << seed;
  ASSERT_EQ(data.wrong(), 0) << m << " x " << n << " x " << k << ", seed " << seed;
}

constexpr ScaleType ue8m0 = ScaleType::Ue8m0, ue4m3 = ScaleType::Ue4m3;
using Mxfp8 = Named<Type::E4m3, Type::E4m3, ue8m0, 128>;
using Mxfp8Pair = Named<Type::E5m2, Type::E4m3, ue8m0, 256, 2, Type::Bf16>;
using Mxfp4 = Named<Type::E2m1, Type::E2m1, ue8m0, 128, 1, Type::Bf16>;
using Nvfp4 = Named<Type::E2m1, Type::E2m1, ue4m3, 256>;
using Nvfp4Pair = Named<Type::E2m1, Type::E2m1, ue4m3, 128, 2>;
// Elements of 4 and 6 bits get a byte each in shared memory.
using Mixed = Named<Type::E4m3, Type::E2m1, ue8m0, 128>;
using Mxfp6Pair = Named<Type::E3m2, Type::E2m3, ue8m0, 128, 2>;

template <class Named>
void expect_on_200_schedules(std::int64_t m, std::int64_t n, std::int64_t k) {
  for (const vgpu::Landing landing : test::every_landing) {
    for (std::uint32_t seed = 1; seed <= 50; ++seed) {
      vgpu::Options options;
      options.landing = landing;
      options.sm_count = Named::config.tiling.cluster.size();  // all tiles by one cluster
      expect<Named>(m + seed, n, k, ScaledFill::Exact, seed, options);
    }
  }
}

TEST(BlockScaled, Mxfp8IsExactAndCleanOn200Schedules) {
  expect_on_200_schedules<Mxfp8>(90, 40, 128 * 4 + 96);
}

TEST(BlockScaled, Nvfp4OfPairsIsExactAndCleanOn200Schedules) {
  expect_on_200_schedules<Nvfp4Pair>(140, 24, 256 * 4 + 32);
}

template <class Named>
void expect_any_rows(std::int64_t k) {
  expect<Named>(1, 1, 128, ScaledFill::Exact, 1);
  expect<Named>(128, 128, 128, ScaledFill::Exact, 2);
  expect<Named>(140, 260, k, ScaledFill::Exact, 3);
  expect<Named>(200, 150, 640, ScaledFill::Any, 4);
  vgpu::Options options;
  options.sm_count = Named::config.tiling.cluster.size();
  for (const vgpu::Landing landing : test::every_landing) {
    options.landing = landing;
    expect<Named>(270, 140, k, ScaledFill::Exact, 5, options);
  }
}
template <class Named>
void expect_any_shape() {
  expect_any_rows<Named>(1056);
  expect<Named>(129, 257, 16, ScaledFill::Exact, 6);
  expect<Named>(33, 1, 1632, ScaledFill::Exact, 7);
}
TEST(BlockScaled, Mxfp8OfAnyShape) { expect_any_shape<Mxfp8>(); }
TEST(BlockScaled, Mxfp8OfPairs) { expect_any_shape<Mxfp8Pair>(); }
TEST(BlockScaled, Mxfp4OfAnyShape) { expect_any_shape<Mxfp4>(); }
TEST(BlockScaled, Nvfp4OfAnyShape) { expect_any_shape<Nvfp4>(); }
TEST(BlockScaled, Nvfp4OfPairs) { expect_any_shape<Nvfp4Pair>(); }
TEST(BlockScaled, Mxfp8TimesMxfp4) { expect_any_rows<Mixed>(1024); }
TEST(BlockScaled, Mxfp6OfPairs) { expect_any_rows<Mxfp6Pair>(1024); }

// TW_PROBLEMS of each kernel, of any shape that its types allow.
template <class Named>
void expect_random_problems(std::mt19937& random) {
  const char* const asked = std::getenv("TW_PROBLEMS");
  const int count = asked != nullptr ? std::atoi(asked) : 3;
  constexpr Tiling tiling = Named::config.tiling;
  constexpr bool unpacks =
      !tiling.is_packed() && (bits_in(tiling.a_type) < 8 || bits_in(tiling.b_type) < 8);
  const auto draw = [&](std::int64_t most, std::int64_t step) {
    return (1 + static_cast<std::int64_t>(random()) % (most / step)) * step;
  };
  for (int i = 0; i < count; ++i) {
    vgpu::Options options;
    options.landing = test::every_landing[random() % 4];
    options.sm_count = static_cast<unsigned>(1 + random() % 3) * tiling.cluster.size();
    const ScaledFill fill = random() % 2 == 0 ? ScaledFill::Exact : ScaledFill::Any;
    const std::int64_t k = draw(900, unpacks ? 128 : tiling.is_packed() ? 2 : 1);
    expect<Named>(draw(300, 1), draw(300, 1), k, fill, static_cast<std::uint32_t>(random()),
                  options);
    if (::testing::Test::HasFatalFailure()) return;
  }
}
TEST(BlockScaled, RandomProblems) {
  const std::uint64_t seed = tests::base_seed();
  SCOPED_TRACE(testing::Message() << "TW_SEED=" << seed);
  std::mt19937 random(static_cast<std::uint32_t>(seed));
  expect_random_problems<Mxfp8>(random);
  expect_random_problems<Mxfp8Pair>(random);
  expect_random_problems<Mxfp4>(random);
  expect_random_problems<Nvfp4>(random);
  expect_random_problems<Nvfp4Pair>(random);
  expect_random_problems<Mixed>(random);
  expect_random_problems<Mxfp6Pair>(random);
}

// Parts of a matmul that block scales go with as they are.
template <MatmulConfig given>
struct Configured {
  static constexpr ScaleType scale_type = ue8m0;
  static constexpr MatmulConfig config = given;
  using Kernel = tw::Kernel<Sm100Scaled, BlockScaledRecipe<ue8m0>, Configured>;
};
constexpr MatmulConfig configured(Tiling tiling, MatmulConfig config) {
  tiling.n = 128;
  tiling.a_type = tiling.b_type = Type::E4m3;
  config.tiling = tiling;
  config.d_type = Type::Fp32;
  config.multiply_groups = 1;
  return config;
}
template <MatmulConfig config>
void expect_configured(std::int64_t k) {
  vgpu::Options options;
  options.sm_count = 2 * config.tiling.cluster.size();
  for (const vgpu::Landing landing : test::every_landing) {
    options.landing = landing;
    expect<Configured<config>>(140, 270, k, ScaledFill::Exact, 8, options);
  }
}
TEST(BlockScaled, InClustersThatShareOperands) {
  expect_configured<configured({.cluster = {2, 2}}, {})>(800);
}
TEST(BlockScaled, InPairsThatShareRows) {
  expect_configured<configured({.cluster = {2, 2}, .group = 2},
                               {.scheduling = Scheduling::Dynamic})>(800);
}
TEST(BlockScaled, OfBytesThatAreMnMajor) {
  expect_configured<configured({.a_major = Major::MN, .b_major = Major::MN}, {.c_stages = 2})>(800);
}
TEST(BlockScaled, OfTwoSpansInAStage) { expect_configured<configured({.spans = 2}, {})>(800); }

TEST(BlockScaled, MatricesOfABatchHaveTheirOwnScales) {
  ScaledCase data(Nvfp4::config, ue4m3, 128, 256, 300, ScaledFill::Exact, 9, 3);
  data.alpha = 0.25f;  // where NVFP4 has the scales of whole tensors
  ASSERT_TRUE(test::clean(run<Nvfp4>(data, {})));
  EXPECT_EQ(data.wrong(), 0);
}

// Every wrong tensor gets a sentence.
TEST(BlockScaledProblem, IsRefusedWithASentence) {
  const auto says = [](auto change, const char* words, auto named) {
    using Parts = typename decltype(named)::Kernel;
    ScaledCase data(Parts::config, decltype(named)::scale_type, 64, 64, 128, ScaledFill::Exact, 1);
    BlockScaledProblem problem = data.problem();
    change(problem);
    typename kernel::WarpSpecialized<Parts>::Params params;
    MatmulGrid grid;
    const Status status = plan<Parts>(params, grid, problem, {}, 1, {}, encode_for_virtual);
    EXPECT_FALSE(status.is_good()) << words;
    EXPECT_NE(std::string(status.sentence()).find(words), std::string::npos) << status.sentence();
  };
  const auto fp8 = [&](auto change, const char* words) { says(change, words, Mxfp8{}); };
  const auto fp4 = [&](auto change, const char* words) { says(change, words, Nvfp4{}); };
  const auto mixed = [&](auto change, const char* words) { says(change, words, Mixed{}); };
  using Problem = BlockScaledProblem;
  fp8([](Problem& p) { p.scale_type = ue4m3; }, "scales are ue4m3; this kernel");
  fp8([](Problem& p) { p.matmul.a.type = Type::Bf16; }, "A has type bf16");
  fp8([](Problem& p) { p.matmul.b.type = Type::E5m2; }, "B has type e5m2");
  fp8([](Problem& p) { p.b_scales = nullptr; }, "B's scales is null");
  fp8([](Problem& p) { p.a_scales = static_cast<const char*>(p.a_scales) + 8; },
      "scales of A must begin at a multiple of 16");
  fp8([](Problem& p) { p.matmul.a.pitch = 136; }, "multiples of 16 bytes");
  fp4([](Problem& p) { p.matmul.b.pitch = 144; }, "144 elements of 4 bits");
  fp4([](Problem& p) { p.matmul.k = 127; }, "an even k");
  fp4([](Problem& p) { p.matmul.a.major = Major::MN; }, "4 bits must be K-major");
  fp4([](Problem& p) { p.matmul.a.type = Type::E4m3; }, "for e2m1 times e2m1");
  mixed([](Problem& p) { p.matmul.k = 96; }, "e2m1 times another type needs a multiple of 128");
  mixed([](Problem& p) { p.matmul.b.pitch = 160; }, "multiples of 32 bytes");
}

}  // namespace
}  // namespace tw::programs
