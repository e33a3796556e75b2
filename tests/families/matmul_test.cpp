#include <gtest/gtest.h>

#include <vector>

#include "src/matmul/virtual.h"
#include "tests/families/problems.h"

namespace tw::tests {
namespace {

constexpr vgpu::Landing policies[] = {vgpu::Landing::Eager, vgpu::Landing::Lazy,
                                      vgpu::Landing::Random, vgpu::Landing::Adversarial};

// Traced instances need somewhere to write.
struct TraceRoom {
  explicit TraceRoom(const MatmulInstance& instance) {
    if (instance.config.tracing == Tracing::Off) return;
    events.resize(std::size_t{64} * instance.tracks * 16);
    counts.resize(std::size_t{64} * instance.tracks);
    buffer = {events.data(), counts.data(), 16};
  }
  std::vector<TraceEvent> events;
  std::vector<std::uint32_t> counts;
  TraceBuffer buffer;
};

TEST(Matmul, ComputesRaggedProblemsExactlyOnTheVirtualGpu) {
  const std::uint64_t seed = base_seed();
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(seed));
  int index = 0;
  for (const RandomProblem& problem : random_problems(300, 320, seed)) {
    const VerifiedProblem verified(problem.shape, Fill::Integers, problem.seed);
    TraceRoom room(*problem.instance);
    vgpu::Options options;
    options.landing = policies[index++ % 4];
    options.seed = problem.seed;
    options.sm_count = 2 + problem.seed % 5;
    const VirtualRun run =
        run_virtually(*problem.instance, problem.order, verified, room.buffer, options);
    ASSERT_TRUE(run.clean()) << problem.name() << " landing " << name_of(options.landing) << "\n"
                             << run.complaint();
  }
}

TEST(Matmul, KeepsRandomDataWithinTheDerivedBound) {
  for (const RandomProblem& problem : random_problems(14, 300, base_seed() + 1)) {
    const VerifiedProblem verified(problem.shape, Fill::Normal, problem.seed);
    TraceRoom room(*problem.instance);
    const VirtualRun run =
        run_virtually(*problem.instance, problem.order, verified, room.buffer, vgpu::Options{});
    ASSERT_TRUE(run.clean()) << problem.name() << "\n" << run.complaint();
  }
}

// The comparison must be able to fail: one bit, one missing element, one touched byte of padding.
TEST(Matmul, ComparisonCatchesASingleWrongBit) {
  const MatmulShape shape = {5, 9, 16, 1.0f, 0.0f, false};
  for (const Fill fill : {Fill::Integers, Fill::Normal}) {
    VerifiedProblem problem(shape, fill, 7);
    EXPECT_EQ(compare(problem.data, problem.reference, shape, fill).wrong, 45) << "all poison";
    for (std::int64_t row = 0; row < shape.m; ++row) {
      for (std::int64_t column = 0; column < shape.n; ++column) {
        problem.data.d.values[row * problem.data.d.pitch + column] =
            Bf16(static_cast<float>(problem.reference.value[row * shape.n + column]));
      }
    }
    EXPECT_TRUE(compare(problem.data, problem.reference, shape, fill).good());
    MatmulData padded = problem.data;
    padded.d.values[9] = Bf16(0.0f);
    EXPECT_EQ(compare(padded, problem.reference, shape, fill).padding_touched, 1);
    MatmulData off = problem.data;
    off.d.values[3].bits ^= fill == Fill::Integers ? 1 : 8;
    EXPECT_EQ(compare(off, problem.reference, shape, fill).wrong, 1);
  }
}

TEST(Matmul, RefusesWithASentence) {
  MatmulProblem problem;
  problem.m = problem.n = problem.k = 16;
  alignas(16) static Bf16 memory[16 * 32];
  problem.a = problem.b = memory;
  problem.d = memory;
  problem.a_pitch = problem.b_pitch = problem.d_pitch = 16;
  EXPECT_TRUE(check(problem).is_good());
  problem.a_pitch = 18;
  EXPECT_EQ(check(problem).sentence(),
            "The pitch of A is 18 elements; TMA needs a multiple of 16 bytes, that is of 8 bf16.");
  problem.a_pitch = 8;
  EXPECT_EQ(check(problem).sentence(), "The pitch of A is 8 elements, but its rows have 16.");
  problem.a_pitch = 16;
  problem.d = memory + 1;
  EXPECT_EQ(check(problem).sentence(), "The address of D is not a multiple of 16 bytes.");
  problem.m = -3;
  EXPECT_EQ(check(problem).sentence(), "m = -3 must be at least 0 and below 2^31 - 256.");
}

}  // namespace
}  // namespace tw::tests
