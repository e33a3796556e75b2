#include <gtest/gtest.h>

#include "tests/families/blockwise_fp8_problems.h"

namespace tw::tests {
namespace {

constexpr vgpu::Landing policies[] = {vgpu::Landing::Eager, vgpu::Landing::Lazy,
                                      vgpu::Landing::Random, vgpu::Landing::Adversarial};

void expect_clean(const BlockwiseInstance& instance, const MatmulOrder& order,
                  const BlockwiseShape& shape, Fill fill, std::uint64_t seed) {
  vgpu::Options options;
  options.landing = policies[seed % 4];
  options.seed = seed;
  options.sm_count = instance.config.tiling.cluster.size() * static_cast<unsigned>(1 + seed % 3);
  const std::string line = run_line(instance, order, shape, fill, seed);
  const VirtualRun run =
      run_virtually(instance, order, VerifiedBlockwise(shape, fill, seed), options);
  ASSERT_TRUE(run.clean()) << line << "\n" << run.complaint();
  // A gate multiplies two sums, which may be more than float32 holds.
  EXPECT_TRUE(run.comparison.exact || fill == Fill::Normal || shape.matmul.epilogue.gated) << line;
}

TEST(BlockwiseFp8, ComputesRandomProblemsExactlyOnTheVirtualGpu) {
  Random random(base_seed());
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  const char* count = std::getenv("TW_BLOCKWISE_PROBLEMS");
  const int problems = count != nullptr ? std::atoi(count) : 300;
  for (int i = 0; i < problems; ++i) {
    const auto instances = blockwise_instances();
    const BlockwiseInstance& instance = instances[static_cast<std::size_t>(i) % instances.size()];
    const BlockwiseShape shape = random_shape(instance, random);
    expect_clean(instance, random_order(instance, random), shape,
                 i % 3 == 2 ? Fill::Position : Fill::Integers,
                 base_seed() + static_cast<std::uint64_t>(i));
    if (HasFatalFailure()) return;
  }
}

TEST(BlockwiseFp8, KeepsRandomDataWithinTheDerivedBound) {
  Random random(base_seed() + 1);
  for (const BlockwiseInstance& instance : blockwise_instances()) {
    expect_clean(instance, {}, random_shape(instance, random), Fill::Normal, base_seed());
  }
}

// A scale of its own for every block and row, and zeros everywhere else: one that is taken from a
// neighbour, or from outside, shows.
TEST(BlockwiseFp8, EveryScaleMeetsItsOwnBlock) {
  for (const BlockwiseInstance& instance : blockwise_instances()) {
    for (const Major major : {Major::K, Major::MN}) {
      BlockwiseShape shape = shape_for(instance);
      shape.matmul.m = instance.config.tiling.loaded_rows != 0 ? 15 : 131;
      shape.matmul.n = 257;
      shape.matmul.k = 645;
      shape.a_scales = shape.b_scales = major;
      shape.unaligned_scales = major == Major::MN;
      expect_clean(instance, {}, shape, Fill::Position, major == Major::K ? 2 : 5);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(BlockwiseFp8, EmptyProblemsNeedNoScales) {
  for (const BlockwiseInstance& instance : blockwise_instances()) {
    for (int i = 0; i < 3; ++i) {
      BlockwiseShape shape = shape_for(instance);
      shape.matmul.m = i == 0 ? 0 : 5;
      shape.matmul.n = i == 1 ? 0 : 9;
      shape.matmul.k = i == 2 ? 0 : 7;
      VerifiedBlockwise problem(shape, Fill::Integers, 1);
      BlockwiseProblem given = blockwise_on_host(problem.data, shape);
      given.a_scales = given.b_scales = {};
      vgpu::Report report;
      const Status status = instance.simulate(given, {}, {}, report);
      ASSERT_TRUE(status.is_good()) << status.sentence();
      const Comparison comparison = compare(problem.data.matmul, problem.reference);
      EXPECT_TRUE(comparison.good()) << comparison.complaint();
    }
  }
}

TEST(BlockwiseFp8, RefusesWithASentence) {
  const BlockwiseInstance& instance = blockwise_instances()[0];
  ASSERT_EQ(instance.b_scale_rows, 128u);
  const auto refusal = [&](const auto& change) {
    BlockwiseShape shape = shape_for(instance);
    shape.matmul.m = 100;
    shape.matmul.n = 200;
    shape.matmul.k = 500;
    BlockwiseData data = make_blockwise_data(shape, Fill::Integers, 1);
    BlockwiseProblem problem = blockwise_on_host(data, shape);
    change(problem);
    vgpu::Report report;
    return instance.simulate(problem, {}, {}, report).sentence();
  };
  using P = BlockwiseProblem;
  EXPECT_EQ(refusal([](P&) {}), "");
  EXPECT_EQ(refusal([](P& p) { p.a_scales.tensor.type = ElementType::Bf16; }),
            "The scales of A are bf16, but must be fp32.");
  EXPECT_EQ(refusal([](P& p) { p.a_scales.rows = 1; }),
            "The scales of A are 1 x 4, but must be 100 x 4: one for each row and each 128 of k.");
  EXPECT_EQ(refusal([](P& p) { p.b_scales.rows = 200; }),
            "The scales of B are 200 x 4, but must be 2 x 4: one for each 128 rows and each 128 of "
            "k.");
  EXPECT_EQ(refusal([](P& p) { p.b_scales.k_blocks = 3; }),
            "The scales of B are 2 x 3, but must be 2 x 4: one for each 128 rows and each 128 of "
            "k.");
  EXPECT_EQ(refusal([](P& p) { p.a_scales.tensor.pitch = 3; }),
            "The pitch of the scales of A is 3 elements, but its lines have 4.");
  EXPECT_EQ(refusal([](P& p) {
              p.a_scales.tensor.major = Major::MN;
              p.a_scales.tensor.pitch = 99;
            }),
            "The pitch of the scales of A is 99 elements, but its lines have 100.");
  EXPECT_EQ(refusal([](P& p) { p.b_scales.tensor.pitch = 1 << 30; }),
            "The scales of B, with a pitch of 1073741824 elements, must reach over less than 2^31 "
            "elements.");
  EXPECT_EQ(refusal([](P& p) {
              p.a_scales.tensor.data = static_cast<const char*>(p.a_scales.tensor.data) + 2;
            }),
            "The address of the scales of A is not a multiple of 4 bytes, its element's size.");
  EXPECT_EQ(refusal([](P& p) { p.b_scales.tensor.data = nullptr; }),
            "The address of the scales of B is null.");
  EXPECT_EQ(refusal([](P& p) { p.matmul.a.type = ElementType::Bf16; }),
            "A has type bf16; this kernel multiplies e4m3.");
}

}  // namespace
}  // namespace tw::tests
