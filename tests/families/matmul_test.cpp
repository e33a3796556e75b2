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
  for (const MatmulTask& problem : random_problems(300, 320, seed)) {
    const VerifiedProblem verified(problem.shape, problem.fill, problem.seed);
    TraceRoom room(*problem.instance);
    vgpu::Options options;
    options.landing = policies[index++ % 4];
    options.seed = problem.seed;
    options.sm_count = 2 + problem.seed % 5;
    const VirtualRun run =
        run_virtually(*problem.instance, problem.order, verified, room.buffer, options);
    ASSERT_TRUE(run.clean()) << run_line(problem) << " --on virtual --landing "
                             << name_of(options.landing) << " --schedule-seed " << options.seed
                             << " --sms " << options.sm_count << "\n"
                             << run.complaint();
  }
}

TEST(Matmul, KeepsRandomDataWithinTheDerivedBound) {
  for (const MatmulTask& problem : random_problems(14, 300, base_seed() + 1)) {
    const VerifiedProblem verified(problem.shape, Fill::Normal, problem.seed);
    TraceRoom room(*problem.instance);
    const VirtualRun run =
        run_virtually(*problem.instance, problem.order, verified, room.buffer, vgpu::Options{});
    ASSERT_TRUE(run.clean()) << run_line(problem) << "\n" << run.complaint();
  }
}

// Scales of zero mean that the operand is not read: it may hold NaN.
TEST(Matmul, IgnoresWhatIsScaledByZero) {
  const MatmulShape shape = {
      .m = 130, .n = 71, .k = 64, .epilogue = {.alpha = 0.0f, .column_bias = true}};
  const VerifiedProblem verified(shape, Fill::Integers, 3);
  const std::vector<Bf16> poison(130 * 128, Bf16::from_bits(0x7fff));
  MatmulData data = verified.data;
  MatmulProblem problem = problem_on_host(data, shape);
  problem.a.data = problem.epilogue.source = poison.data();
  problem.a.pitch = 64;
  problem.epilogue.source_pitch = 72;
  for (const MatmulInstance& instance : matmul_instances()) {
    TraceRoom room(instance);
    vgpu::Report report;
    ASSERT_TRUE(
        instance.simulate(problem, MatmulOrder{}, room.buffer, vgpu::Options{}, report).is_good());
    EXPECT_EQ(report.verdict(), vgpu::Report::Clean) << instance.name;
    EXPECT_TRUE(compare(data, verified.reference).good()) << instance.name;
  }
}

TEST(Matmul, AccumulatesInPlace) {
  const MatmulShape shape = {.m = 200, .n = 300, .k = 100, .epilogue = {.beta = 2.0f}};
  const VerifiedProblem verified(shape, Fill::Integers, 4);
  for (const MatmulInstance& instance : matmul_instances()) {
    MatmulData data = verified.data;
    data.d.fill([&](std::int64_t batch, std::int64_t row, std::int64_t column) {
      return data.source.at(batch, row, column);
    });
    MatmulProblem problem = problem_on_host(data, shape);
    problem.epilogue.source = problem.d.data;
    problem.epilogue.source_pitch = problem.d.pitch;
    TraceRoom room(instance);
    vgpu::Report report;
    ASSERT_TRUE(
        instance.simulate(problem, MatmulOrder{}, room.buffer, vgpu::Options{}, report).is_good());
    EXPECT_EQ(report.verdict(), vgpu::Report::Clean) << instance.name;
    EXPECT_TRUE(compare(data, verified.reference).good()) << instance.name;
  }
}

TEST(Matmul, TakesAnyRasterGroup) {
  const VerifiedProblem verified({.m = 700, .n = 900, .k = 64}, Fill::Integers, 5);
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
  problem.a.data = problem.b.data = memory;
  problem.d.data = memory;
  problem.a.pitch = problem.b.pitch = problem.d.pitch = 16;
  EXPECT_TRUE(check(problem).is_good());
  problem.a.pitch = 18;
  EXPECT_EQ(check(problem).sentence(),
            "The pitch of A is 18 elements; TMA needs a multiple of 16 bytes, that is of 8 bf16.");
  problem.a.pitch = 8;
  EXPECT_EQ(check(problem).sentence(), "The pitch of A is 8 elements, but its rows have 16.");
  problem.a.pitch = 16;
  problem.d.data = memory + 1;
  EXPECT_EQ(check(problem).sentence(), "The address of D is not a multiple of 16 bytes.");
  problem.d.data = nullptr;
  EXPECT_EQ(check(problem).sentence(), "The address of D is null.");
  problem.d.data = memory;
  problem.epilogue.beta = 2.0f;
  EXPECT_EQ(check(problem).sentence(), "beta is 2.000000, but there is no C to scale with it.");
  problem.epilogue.source = memory;
  problem.epilogue.source_pitch = 3;
  EXPECT_EQ(check(problem).sentence(), "The pitch of C is 3 elements, but its rows have 16.");
  problem.epilogue.source_pitch = 16;
  problem.a.pitch = std::int64_t{1} << 50;
  EXPECT_EQ(check(problem).sentence(),
            "The pitch of A is 1125899906842624 elements; TMA takes less than 2^40 bytes, that is "
            "2^39 bf16.");
  problem.m = -3;
  EXPECT_EQ(check(problem).sentence(), "m = -3 must be at least 0 and below 2^31 - 256.");
}

}  // namespace
}  // namespace tw::tests
