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

// Scales of zero mean that the operand is not read: it may hold NaN.
TEST(Matmul, IgnoresWhatIsScaledByZero) {
  const MatmulShape shape = {130, 71, 64, 0.0f, 0.0f, true};
  const VerifiedProblem verified(shape, Fill::Integers, 3);
  const std::vector<Bf16> poison(130 * 128, Bf16::from_bits(0x7fff));
  MatmulData data = verified.data;
  MatmulProblem problem = problem_on_host(data, shape);
  problem.a = problem.source = poison.data();
  problem.a_pitch = 64;
  problem.source_pitch = 72;
  for (const MatmulInstance& instance : matmul_instances()) {
    TraceRoom room(instance);
    vgpu::Report report;
    ASSERT_TRUE(
        instance.simulate(problem, MatmulOrder{}, room.buffer, vgpu::Options{}, report).is_good());
    EXPECT_EQ(report.verdict(), vgpu::Report::Clean) << instance.name;
    EXPECT_TRUE(compare(data, verified.reference, shape, Fill::Integers).good()) << instance.name;
  }
}

TEST(Matmul, AccumulatesInPlace) {
  const MatmulShape shape = {200, 300, 100, 1.0f, 2.0f, false};
  const VerifiedProblem verified(shape, Fill::Integers, 4);
  for (const MatmulInstance& instance : matmul_instances()) {
    MatmulData data = verified.data;
    for (std::int64_t row = 0; row < shape.m; ++row) {
      std::copy_n(&data.source.values[row * data.source.pitch], shape.n,
                  &data.d.values[row * data.d.pitch]);
    }
    MatmulProblem problem = problem_on_host(data, shape);
    problem.source = problem.d;
    problem.source_pitch = problem.d_pitch;
    TraceRoom room(instance);
    vgpu::Report report;
    ASSERT_TRUE(
        instance.simulate(problem, MatmulOrder{}, room.buffer, vgpu::Options{}, report).is_good());
    EXPECT_EQ(report.verdict(), vgpu::Report::Clean) << instance.name;
    EXPECT_TRUE(compare(data, verified.reference, shape, Fill::Integers).good()) << instance.name;
  }
}

TEST(Matmul, TakesAnyRasterGroup) {
  const VerifiedProblem verified({700, 900, 64, 1.0f, 0.0f, false}, Fill::Integers, 5);
  for (const int group : {1, 3, 1000, 1 << 30, (1 << 30) + 1}) {
    for (const Raster raster : {Raster::AlongM, Raster::AlongN}) {
      const VirtualRun run = run_virtually(matmul_instances().front(), {group, raster}, verified,
                                           TraceBuffer{}, vgpu::Options{});
      EXPECT_TRUE(run.clean()) << group << "\n" << run.complaint();
    }
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
  problem.d = nullptr;
  EXPECT_EQ(check(problem).sentence(), "The address of D is null.");
  problem.d = memory;
  problem.beta = 2.0f;
  EXPECT_EQ(check(problem).sentence(), "beta is 2.000000, but there is no C to scale with it.");
  problem.source = memory;
  problem.source_pitch = 3;
  EXPECT_EQ(check(problem).sentence(), "The pitch of C is 3 elements, but its rows have 16.");
  problem.source_pitch = 16;
  problem.a_pitch = std::int64_t{1} << 50;
  EXPECT_EQ(check(problem).sentence(),
            "The pitch of A is 1125899906842624 elements; TMA takes less than 2^40 bytes, that is "
            "2^39 bf16.");
  problem.m = -3;
  EXPECT_EQ(check(problem).sentence(), "m = -3 must be at least 0 and below 2^31 - 256.");
}

}  // namespace
}  // namespace tw::tests
