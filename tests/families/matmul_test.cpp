#include "src/families/matmul.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "src/dispatch/choose_launch.h"
#include "src/verify/stated.h"
#include "src/verify/virtual.h"
#include "src/verify/virtual_run.h"
#include "tests/families/schedule.h"
#include "tests/families/seed.h"
#include "tests/families/task.h"
#include "tilewright/io/tma_loader.h"
#include "tilewright/launch/product.h"
#include "tilewright/launch/stated_check.h"

namespace tw::tests {
namespace {

// Traced instances need somewhere to write.
struct TraceRoom {
  explicit TraceRoom(const Instance& instance) {
    if (config_of(instance).tracing == Tracing::Off) return;
    events.resize(std::size_t{64} * product_facts(instance).tracks * 16);
    counts.resize(std::size_t{64} * product_facts(instance).tracks);
    buffer = {events.data(), counts.data(), 16, static_cast<std::uint32_t>(counts.size())};
  }
  std::vector<TraceEvent> events;
  std::vector<std::uint32_t> counts;
  TraceBuffer buffer;
};

// Scales of zero mean that the operand is not read: it may hold NaN.
TEST(Matmul, IgnoresWhatIsScaledByZero) {
  for (const Instance& instance : matmul_trial.instances()) {
    MatmulShape shape = usual_shape(instance);
    shape.m = fitting_rows(instance, 130);
    shape.n = 72;
    shape.k = 64;
    const bool is_plain = config_of(instance).plain_epilogue != 0;
    shape.epilogue.alpha = 0.0f;
    shape.epilogue.column_bias = !is_plain;
    const VerifiedProblem verified(shape, Fill::Integers, 3);
    MatmulData data = verified.data;
    for (std::byte& byte : data.a.bytes) byte = std::byte{0xff};
    MatmulProblem problem = problem_on_host(data, shape);
    const std::vector<std::byte> source(static_cast<std::size_t>(shape.m) * 72 * 4,
                                        std::byte{0xff});
    if (!is_plain) problem.epilogue.source = source.data();
    problem.epilogue.source_pitch = 72;
    TraceRoom room(instance);
    vgpu::Report report;
    const StatedMatmul stated(problem);
    ASSERT_TRUE(stated.status().is_good()) << stated.status().sentence();
    const Status status = instance.simulate(
        stated.checked(), {usual_order(instance), {}, room.buffer}, vgpu::Options{}, report);
    ASSERT_TRUE(status.is_good()) << instance.name << ": " << status.sentence();
    EXPECT_EQ(report.verdict(), vgpu::Report::Clean)
        << instance.name << ": " << (report.findings.empty() ? "" : report.findings[0].text);
    EXPECT_TRUE(compare(data, verified.reference).good()) << instance.name;
  }
}

TEST(Matmul, AccumulatesInPlace) {
  for (const Instance& instance : matmul_trial.instances()) {
    MatmulShape shape = usual_shape(instance);
    if (bytes_of(shape.d_type) == 1 || is_integer(shape.d_type)) continue;  // C is never of these
    if (config_of(instance).plain_epilogue != 0) continue;
    shape.m = fitting_rows(instance, 200);
    shape.n = 300;
    shape.k = 100;
    shape.epilogue.beta = 2.0f;
    shape.epilogue.source_type = shape.d_type;
    const VerifiedProblem verified(shape, Fill::Integers, 4);
    MatmulData data = verified.data;
    data.d.fill([&](std::int64_t batch, std::int64_t row, std::int64_t column) {
      return data.source.at(batch, row, column);
    });
    MatmulProblem problem = problem_on_host(data, shape);
    problem.epilogue.source = problem.d.data;
    problem.epilogue.source_pitch = problem.d.pitch;
    TraceRoom room(instance);
    vgpu::Report report;
    const StatedMatmul stated(problem);
    ASSERT_TRUE(stated.status().is_good()) << stated.status().sentence();
    const Status status = instance.simulate(
        stated.checked(), {usual_order(instance), {}, room.buffer}, vgpu::Options{}, report);
    ASSERT_TRUE(status.is_good()) << instance.name << ": " << status.sentence();
    EXPECT_EQ(report.verdict(), vgpu::Report::Clean)
        << instance.name << ": " << (report.findings.empty() ? "" : report.findings[0].text);
    EXPECT_TRUE(compare(data, verified.reference).good()) << instance.name;
  }
}

// Every way to sweep the tiles is tried with one instance.
TEST(Matmul, TakesAnyRasterGroup) {
  for (const TileSweep sweep : {TileSweep::Grouped, TileSweep::Hilbert}) {
    for (const Instance& instance : matmul_trial.instances()) {
      if (config_of(instance).sweep != sweep || config_of(instance).tracing == Tracing::On)
        continue;
      MatmulShape shape = usual_shape(instance);
      shape.m = 700;
      shape.n = 900;
      shape.k = 64;
      const VerifiedProblem verified(shape, Fill::Integers, 5);
      for (const int group : {1, 3, 1000, 1 << 30, (1 << 30) + 1}) {
        for (const Raster raster : {Raster::AlongM, Raster::AlongN}) {
          LaunchOrder order = usual_order(instance);
          order.group = group;
          order.raster = raster;
          const VirtualRun run =
              run_virtually(instance, order, verified, TraceBuffer{}, vgpu::Options{});
          EXPECT_TRUE(run.clean()) << instance.name << " " << group << "\n" << run.complaint();
        }
      }
      break;
    }
  }
}

// Where all parts run at once, several finish a share of a tile each; else the last finishes it.
TEST(Matmul, PartsFinishShares) {
  for (const Instance& instance : matmul_trial.instances()) {
    const MatmulConfig& config = config_of(instance);
    if (config.finishers == 1) continue;
    MatmulShape shape = usual_shape(instance);
    shape.m = config.tiling.m + 5;
    shape.n = config.tiling.n + 24;
    shape.k = 7 * config.tiling.k() - 8;
    shape.epilogue.column_bias = true;
    const VerifiedProblem verified(shape, Fill::Integers, 6);
    for (const int parts : {3, 4, 7}) {
      LaunchOrder order = usual_order(instance);
      order.split_k = parts;
      for (const unsigned sms : {28u, 6u}) {
        vgpu::Options machine;
        machine.sm_count = sms;
        const VirtualRun run = run_virtually(instance, order, verified, TraceBuffer{}, machine);
        EXPECT_TRUE(run.clean()) << instance.name << " " << parts << "\n" << run.complaint();
      }
    }
  }
}

// Beside few rows the L2 need not fetch more of an operand than is asked for.
TEST(Matmul, MapsKnowWhatIsReadOnce) {
  using Loader = TmaLoader<Tiling{}>;
  for (const std::int64_t rows : {std::int64_t{1}, detail::few_rows, detail::few_rows + 1}) {
    MatmulProblem problem;
    problem.m = rows;
    problem.n = problem.k = problem.a.pitch = problem.b.pitch = 512;
    std::vector<bool> once;
    Loader::Params params;
    const Status status =
        detail::fill_loader<Loader>(params, problem, [&](const TensorMap&, const MatrixBox& box) {
          once.push_back(box.read_once);
          return Status::good();
        });
    EXPECT_TRUE(status.is_good());
    EXPECT_EQ(once, (std::vector<bool>{false, rows <= detail::few_rows})) << rows;
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
  problem.a.pitch = 8;
  EXPECT_EQ(check(problem).sentence(), "The pitch of A is 8 elements, but its lines have 16.");
  problem.a.pitch = 16;
  problem.d.data = reinterpret_cast<char*>(memory) + 1;
  EXPECT_EQ(check(problem).sentence(),
            "The address of D is not a multiple of 2 bytes, its element's size.");
  problem.d.data = nullptr;
  EXPECT_EQ(check(problem).sentence(), "The address of D is null.");
  problem.d.data = memory;
  problem.epilogue.beta = 2.0f;
  EXPECT_EQ(check(problem).sentence(), "beta is 2, but there is no C to scale with it.");
  problem.epilogue.source = memory;
  problem.epilogue.source_pitch = 3;
  EXPECT_EQ(check(problem).sentence(), "The pitch of C is 3 elements, but its lines have 16.");
  problem.epilogue.source_pitch = 16;
  problem.a.pitch = std::int64_t{1} << 50;
  EXPECT_EQ(check(problem).sentence(),
            "The pitch of A is 1125899906842624 elements, but must be below 2^40 bytes.");
  problem.m = -3;
  EXPECT_EQ(check(problem).sentence(), "m = -3 must be at least 0 and below 2^31 - 256.");
}

// A kernel that loads by TMA says which operand begins where it must not.
TEST(Matmul, NamesTheMisalignedOperand) {
  for (const Instance& instance : matmul_trial.instances()) {
    MatmulShape shape = usual_shape(instance);
    shape.m = shape.n = shape.k = 40;
    shape.unaligned = true;
    MatmulData data = make_matmul_data(shape, Fill::Integers, 1);
    const StatedMatmul stated(problem_on_host(data, shape));
    const Status status = instance.supports(stated.checked(), {usual_order(instance)});
    EXPECT_EQ(status.is_good(), product_facts(instance).any_alignment) << instance.name;
    EXPECT_TRUE(product_facts(instance).any_alignment ||
                status.sentence().find("The lines of A (pitch ") != std::string::npos)
        << status.sentence();
  }
}

// Kernels that store sums alone take alpha and refuse every other part of an epilogue; the library
// then takes others.
TEST(Matmul, KernelsOfPlainSumsRefuseEpilogues) {
  unsigned plain = 0;
  for (const Instance& instance : matmul_trial.instances()) {
    if (config_of(instance).plain_epilogue == 0) continue;
    ++plain;
    MatmulShape shape = usual_shape(instance);
    shape.m = shape.n = shape.k = 48;
    MatmulProblem problem = problem_without_memory(shape);
    const auto supports = [&instance, &problem] {
      const StatedMatmul stated(problem);
      return instance.supports(stated.checked(), {usual_order(instance)});
    };
    problem.epilogue.alpha = 2.0f;
    EXPECT_TRUE(supports().is_good()) << instance.name << ": " << supports().sentence();
    problem.epilogue.activation = Activation::Relu;
    EXPECT_EQ(supports().sentence(),
              "This kernel stores alpha * sums alone; the problem's epilogue has more parts.");
    Choice choice;
    const StatedMatmul stated(problem);
    EXPECT_TRUE(
        choose(choice, stated.checked(), {.target = "sm90a", .capability = 90}, nullptr).is_good());
    EXPECT_EQ(config_of(*choice.instance).plain_epilogue, 0u) << choice.instance->name;
  }
  EXPECT_GT(plain, 0u);
}

// Products of every type, in every layout and at any alignment, have a kernel on every target of
// NVIDIA's. Tensor memory of 10.3 takes no integers: there, sm_80's kernels multiply them.
TEST(Matmul, NoLayoutIsRefused) {
  using enum ElementType;
  constexpr std::pair<ElementType, ElementType> types[] = {{Bf16, Bf16}, {Fp16, Fp16}, {Tf32, Fp32},
                                                           {E4m3, Bf16}, {E5m2, Bf16}, {S8, S32}};
  for (const int capability : {80, 86, 89, 90, 100, 103, 120}) {
    const char* const target = target_of(capability)->name;
    for (const auto& [type, d_type] : types) {
      for (const unsigned variant : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u}) {
        MatmulShape shape;
        shape.m = 33;
        shape.n = 70;
        shape.k = 50;
        shape.a_type = shape.b_type = type;
        shape.d_type = d_type;
        shape.a_major = (variant & 1) != 0 ? Major::MN : Major::K;
        shape.b_major = (variant & 2) != 0 ? Major::MN : Major::K;
        shape.unaligned = (variant & 4) != 0;
        Choice choice;
        const StatedMatmul stated(problem_without_memory(shape));
        const Status status =
            choose(choice, stated.checked(), {.target = target, .capability = capability}, nullptr);
        ASSERT_TRUE(status.is_good()) << status.sentence();
        if (capability == 120) {  // by PTX
          EXPECT_STREQ(choice.instance->target, "sm80") << choice.instance->name;
          continue;
        }
        EXPECT_LT(capability, choice.instance->capability_end) << choice.instance->name;
        if (capability < 103) continue;
        EXPECT_STREQ(choice.instance->target, type == S8 ? "sm80" : "sm100a")
            << choice.instance->name << " " << variant;
      }
    }
  }
}

// What a caller gets with constant weights and without: perhaps of two kernels, whose bits may
// differ, and always within the bound.
TEST(Matmul, ConstantWeightsMayChangeTheKernelAndNotTheBound) {
  int differ = 0;
  for (const std::int64_t m : {1, 7, 16, 40, 64, 130, 200}) {
    const Instance* chosen[2] = {};
    MatmulShape shape;
    shape.m = m;
    shape.n = shape.k = 1024;
    for (const bool constant : {false, true}) {
      MatmulProblem problem = problem_without_memory(shape);
      problem.b_is_constant = constant;
      Choice choice;
      const StatedMatmul stated(problem);
      const Status status =
          choose(choice, stated.checked(), {.target = "sm90a", .capability = 90}, nullptr);
      ASSERT_TRUE(status.is_good()) << status.sentence();
      chosen[constant] = choice.instance;
    }
    differ += chosen[0] != chosen[1];
    if (m > 16 && chosen[0] == chosen[1]) continue;
    for (const bool constant : {false, true}) {
      Case made = usual_case(matmul_trial, *chosen[constant]);
      auto& problem = made.as<tw_matmul_problem>();
      problem.m = m;
      problem.n = 200;  // the same kernels, with less to compute
      problem.k = 328;
      problem.b_is_constant = constant;
      made.fill = Fill::Normal;
      ASSERT_TRUE(serves(made).is_good()) << serves(made).sentence();
      const VirtualRun run = run_virtually(Verified(made), schedule(1, made.instance->cluster));
      EXPECT_TRUE(run.clean()) << run_line(made) << "\n" << run.complaint();
    }
  }
  EXPECT_GT(differ, 0);
}

// Random problems are taken, however large. A kernel for few rows takes these and no more.
TEST(Matmul, TakesRandomProblemsAndFewRows) {
  Random random(base_seed());
  for (const Instance& instance : matmul_trial.instances()) {
    const std::int64_t few = config_of(instance).tiling.loaded_rows;
    std::set<std::int64_t> rows;
    for (int i = 0; i < 2000; ++i) {
      Case made = random_case(matmul_trial, instance, random, i % 2 == 0 ? 320 : 2500);
      const Status status = serves(made);
      ASSERT_TRUE(status.is_good()) << run_line(made) << "\n" << status.sentence();
      rows.insert(made.as<tw_matmul_problem>().m);
    }
    if (few == 0) continue;
    EXPECT_TRUE(rows.contains(0) && rows.contains(1) && rows.contains(few)) << instance.name;
    Case made = usual_case(matmul_trial, instance);
    made.as<tw_matmul_problem>().m = few + 1;
    EXPECT_EQ(serves(made).sentence(), "m is " + std::to_string(few + 1) +
                                           ", but this kernel is for few rows: at most " +
                                           std::to_string(few) + ".");
  }
}

}  // namespace
}  // namespace tw::tests
