// The model puts kernels in the order that an H200 has them in (bench/results), where they are well
// apart.
#include "src/dispatch/cost.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>
#include <utility>

#include "tilewright/launch/targets.h"

namespace tw {

namespace {

constexpr Machine h200;

// The efficiency that a family's instances.txt has behind an instance's configuration.
double listed(const std::string& family, const std::string& name) {
  std::ifstream file(std::string(TW_FAMILIES) + "/" + family + "/instances.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.find("|" + name + "|") == std::string::npos) continue;
    return std::stod(line.substr(line.rfind('|') + 1));
  }
  ADD_FAILURE() << family << " has no instance " << name;
  return usual_efficiency;
}

// The price of the product that a kernel makes of a problem.
double price(const KernelFacts& kernel, const MatmulProblem& problem, const LaunchOrder& order,
             const Machine& machine, Situation situation = Situation::Following,
             double operand_bytes = 0) {
  return expected_microseconds(kernel, product_of(kernel.config.tiling, problem), order, machine,
                               situation, operand_bytes);
}

double microseconds(const MatmulConfig& config, std::int64_t m, std::int64_t n, std::int64_t k,
                    double operand_bytes = 0, const LaunchOrder& order = {},
                    double efficiency = usual_efficiency) {
  MatmulProblem problem;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.a.pitch = problem.b.pitch = k;
  problem.d.pitch = n;
  return price({.target = "sm90a", .config = config, .efficiency = efficiency}, problem, order,
               h200, Situation::Following, operand_bytes);
}

double on_blackwell(const MatmulConfig& config, const std::array<std::int64_t, 3>& shape) {
  MatmulProblem problem;
  problem.m = shape[0];
  problem.n = shape[1];
  problem.k = shape[2];
  problem.a.pitch = problem.b.pitch = shape[2];
  problem.d.pitch = shape[1];
  const Machine machine = machine_of({.target = "sm100a", .sms = 148});
  return price({.target = "sm100a", .config = config}, problem, {}, machine);
}

constexpr MatmulConfig pair_on_blackwell = {.tiling = {.cluster = {2, 1}, .group = 2},
                                            .multiply_groups = 1,
                                            .scheduling = Scheduling::Dynamic};

}  // namespace

TEST(Cost, TakesTurnsWhereProductsAreLarge) {
  constexpr MatmulConfig cooperative = {.tiling = {.cluster = {2, 1}}, .stagger = 2};
  constexpr MatmulConfig in_turns = {.tiling = {.n = 160, .cluster = {2, 1}},
                                     .consumers = Consumers::PingPong,
                                     .dependent_launch = 1};
  const double of_turns = listed("matmul", "pingpong_128x160_2x1"),
               of_cooperative = listed("matmul", "coop_128x256_2x1");
  EXPECT_LT(microseconds(in_turns, 4096, 28672, 4096, 0, {}, of_turns),
            microseconds(cooperative, 4096, 28672, 4096, 0, {}, of_cooperative));
  EXPECT_LT(microseconds(in_turns, 8192, 8192, 8192, 0, {}, of_turns),
            microseconds(cooperative, 8192, 8192, 8192, 0, {}, of_cooperative));
}

// No price of Blackwell is measured. What the model must hold there is arithmetic: of tiles with
// equally many sums in a CTA, those are cheaper that bring fewer rows of operands for them.
TEST(Cost, FewerRowsOfOperandsAreCheaperOnBlackwell) {
  constexpr MatmulConfig alone = {.multiply_groups = 1};
  constexpr MatmulConfig two = {
      .tiling = {.cluster = {2, 1}}, .multiply_groups = 1, .scheduling = Scheduling::Dynamic};
  constexpr MatmulConfig streamed = {
      .tiling = {.cluster = {2, 1}}, .multiply_groups = 1, .split = Split::Stream};
  const auto rows = [](const MatmulConfig& config) {
    return config.tiling.a_rows() + config.tiling.b_rows();
  };
  const std::array<std::int64_t, 3> shapes[] = {
      {8192, 8192, 8192}, {16384, 16384, 8192}, {8192, 8192, 1024}, {4096, 4096, 4096}};
  for (const MatmulConfig& other : {alone, two, streamed}) {
    ASSERT_EQ(other.tiling.m * other.tiling.n,
              pair_on_blackwell.tiling.m * pair_on_blackwell.tiling.n);
    ASSERT_LT(rows(pair_on_blackwell), rows(other));
    for (const auto& shape : shapes) {
      EXPECT_LT(on_blackwell(pair_on_blackwell, shape), on_blackwell(other, shape)) << shape[0];
    }
  }
}

// The cheapest width is that whose waves multiply the fewest columns; where widths are equal in
// this, the widest, which reads A the fewest times.
TEST(Cost, WidthsOnBlackwellFillTheLastWave) {
  for (const std::array<std::int64_t, 3>& shape : {std::array<std::int64_t, 3>{2048, 1024, 4096},
                                                   {2048, 3072, 4096},
                                                   {4096, 7168, 4096},
                                                   {8192, 8192, 8192}}) {
    unsigned wanted = 0, cheapest = 0;
    std::int64_t fewest = 0;
    double price = 0;
    for (const unsigned n : {128u, 192u, 224u, 256u}) {
      MatmulConfig config = pair_on_blackwell;
      config.tiling.n = n;
      const std::int64_t rows = 2 * config.tiling.m, pairs = 148 / 2;
      const std::int64_t tiles = (shape[0] + rows - 1) / rows * ((shape[1] + n - 1) / n);
      const std::int64_t columns = (tiles + pairs - 1) / pairs * n;
      if (wanted == 0 || columns <= fewest) wanted = n, fewest = columns;
      const double expected = on_blackwell(config, shape);
      if (cheapest == 0 || expected <= price) cheapest = n, price = expected;
    }
    EXPECT_EQ(cheapest, wanted) << shape[0] << " x " << shape[1];
  }
}

// A product of few rows costs what its weights do: a tile whose rows are weights brings few zeros
// beside them.
TEST(Cost, FewRowsOnBlackwellAreColumns) {
  constexpr MatmulConfig alone = {.multiply_groups = 1, .dependent_launch = 1};
  constexpr MatmulConfig narrow = {
      .tiling = {.n = 128}, .multiply_groups = 1, .dependent_launch = 1};
  constexpr MatmulConfig swapped = {
      .tiling = {.n = 32, .spans = 2, .a_evict_first = 1, .swap_ab = 1, .weights_first = 1},
      .multiply_groups = 1,
      .dependent_launch = 1};
  for (const std::int64_t rows : {1, 8, 16, 32}) {
    for (const std::int64_t features : {4096, 8192, 28672}) {
      const double price = on_blackwell(swapped, {rows, features, 4096});
      EXPECT_LT(price, on_blackwell(alone, {rows, features, 4096})) << rows << " " << features;
      EXPECT_LT(price, on_blackwell(narrow, {rows, features, 4096})) << rows << " " << features;
    }
  }
}

// Devices of 10.0 and 10.3 run one image; 12.0 compiles the PTX of sm_80's kernels, and 11.0 has
// none.
TEST(Targets, BlackwellIsAFamily) {
  ASSERT_NE(target_of(100), nullptr);
  EXPECT_STREQ(target_of(100)->name, "sm100a");
  EXPECT_EQ(target_of(103), target_of(100));
  EXPECT_EQ(target_of(110), nullptr);
  EXPECT_EQ(target_of(130), nullptr);
  for (const int capability : {86, 89, 120, 121}) EXPECT_EQ(target_of(capability), target_of(80));
}

TEST(Cost, ARowThatIsSentPaysForMatricesAndNotForImages) {
  constexpr MatmulConfig alone = {.tiling = {.n = 64}, .dependent_launch = 1};
  MatmulConfig pair = alone;
  pair.tiling.cluster = {2, 1};
  EXPECT_LT(microseconds(pair, 4096, 4096, 4096), microseconds(alone, 4096, 4096, 4096));
  // 32 images of 28 x 28 x 128, a filter of 3 x 3 x 128 to 128: conv_pingpong_128 was the faster.
  constexpr double bytes = 2 * (32 * 28 * 28 * 128 + 128 * 9 * 128);
  constexpr MatmulConfig in_turns = {
      .tiling = {.n = 128}, .consumers = Consumers::PingPong, .c_stages = 2, .dependent_launch = 1};
  EXPECT_LT(
      microseconds(in_turns, 25088, 128, 1152, bytes, {}, listed("conv2d", "conv_pingpong_128")),
      microseconds(pair, 25088, 128, 1152, bytes, {}, listed("conv2d", "conv_bf16_64_2x1")));
}

// Rows that are not there cost as rows of A, whichever operand the kernel takes them for.
TEST(Cost, SwapAbIsAnotherProduct) {
  constexpr MatmulConfig as_given = {
      .tiling = {.n = 64}, .multiply_groups = 2, .dependent_launch = 1};
  MatmulConfig swapped = as_given;
  swapped.tiling.swap_ab = 1;
  // What the transposed store and the waiting take is in the kernels' efficiencies.
  EXPECT_DOUBLE_EQ(microseconds(swapped, 512, 4096, 4096), microseconds(as_given, 4096, 512, 4096));
  EXPECT_GT(microseconds(swapped, 33, 4096, 4096), microseconds(swapped, 64, 4096, 4096));
  // 40 of 40 rows in place of 33 of 64.
  MatmulConfig narrow = swapped;
  narrow.tiling.n = 40;
  EXPECT_LT(microseconds(narrow, 33, 6144, 4096), microseconds(swapped, 33, 6144, 4096));
}

// An H200 takes 34 us of 72 x 1168 x 32768 by 64 x 80 in clusters of 2 x 2, whose second column of
// CTAs loads zeros, and 16.5 us by 64 x 96 in clusters of 4 x 1; with 153 rows both have columns.
TEST(Cost, ACtaWithoutColumnsLoadsZeros) {
  const auto tile = [](unsigned n, ClusterShape cluster) {
    return MatmulConfig{.tiling = {.m = 64,
                                   .n = n,
                                   .a_type = ElementType::E4m3,
                                   .b_type = ElementType::E4m3,
                                   .cluster = cluster,
                                   .a_evict_first = 1,
                                   .swap_ab = 1},
                        .multiply_groups = 1,
                        .split = Split::Parts};
  };
  const auto price = [&](const MatmulConfig& config, std::int64_t m, std::int64_t n, std::int64_t k,
                         int parts) {
    return microseconds(config, m, n, k, 0, {.split_k = parts}, 0.68);
  };
  EXPECT_GT(price(tile(80, {2, 2}), 72, 1168, 32768, 3),
            1.4 * price(tile(96, {4, 1}), 72, 1168, 32768, 6));
  EXPECT_LT(price(tile(80, {2, 2}), 153, 832, 16352, 4),
            price(tile(96, {4, 1}), 153, 832, 16352, 3));
}

TEST(Cost, SmallStagesTakeTheirTimeAndLongSumsArePaidForInParts) {
  // 20 x 768 x 18432: 32.7 us with 16 CTAs of 288 stages, 21.4 with 24 of 144.
  constexpr MatmulConfig whole = {
      .tiling = {.m = 64, .n = 48, .loaded_rows = 32}, .multiply_groups = 1, .dependent_launch = 1};
  constexpr MatmulConfig halves = {.tiling = {.m = 64, .n = 64, .cluster = {1, 1, 2}},
                                   .multiply_groups = 1,
                                   .split = Split::Cluster,
                                   .dependent_launch = 1};
  EXPECT_LT(microseconds(halves, 20, 768, 18432), microseconds(whole, 20, 768, 18432));
  // 80 x 40960 x 7168: five waves join five times.
  constexpr MatmulConfig joined = {
      .tiling = {.n = 128, .cluster = {1, 1, 2}}, .split = Split::Cluster, .dependent_launch = 1};
  constexpr MatmulConfig shared = {
      .tiling = {.m = 64, .n = 96, .cluster = {2, 1}}, .multiply_groups = 1, .dependent_launch = 1};
  EXPECT_LT(microseconds(shared, 80, 40960, 7168), microseconds(joined, 80, 40960, 7168));
}

// 256 x 1024 x 16384 in eight parts: 23.1 us where the last part finishes, 21.2 where four do.
TEST(Cost, PartsThatRunAtOnceFinishShares) {
  MatmulConfig last = {
      .tiling = {.n = 128, .cluster = {2, 1}}, .split = Split::Parts, .dependent_launch = 1};
  MatmulConfig shares = last;
  shares.finishers = 4;
  const auto in_parts = [](const MatmulConfig& config, std::int64_t m, int parts) {
    return microseconds(config, m, 1024, 16384, 0, {.split_k = parts});
  };
  EXPECT_LT(in_parts(shares, 256, 8) * 1.03, in_parts(last, 256, 8));
  EXPECT_EQ(in_parts(shares, 256, 2), in_parts(last, 256, 2));
  EXPECT_EQ(in_parts(shares, 1024, 8), in_parts(last, 1024, 8));
}

// Tiles that are stored at once pay where sums are short and there are many.
TEST(Cost, ShortSumsAreStoredWhole) {
  constexpr MatmulConfig by_chunks = {
      .tiling = {.cluster = {2, 1}}, .stagger = 2, .dependent_launch = 1};
  constexpr MatmulConfig whole = {
      .tiling = {.cluster = {2, 1}}, .output_buffers = 4, .stagger = 2, .dependent_launch = 1};
  EXPECT_LT(microseconds(whole, 8192, 8192, 128), microseconds(by_chunks, 8192, 8192, 128));
  EXPECT_GT(microseconds(whole, 4096, 4096, 256), microseconds(by_chunks, 4096, 4096, 256));
  EXPECT_GT(microseconds(whole, 4096, 4096, 4096), microseconds(by_chunks, 4096, 4096, 4096));
}

// Weights that may come early save time in kernels that load them early, most where one wave fills
// more than half of the SMs.
TEST(Cost, ConstantWeightsComeEarly) {
  const auto saved = [](unsigned columns, unsigned weights_first, std::int64_t n) {
    const MatmulConfig config = {
        .tiling = {.m = columns, .n = 16, .swap_ab = 1, .weights_first = weights_first},
        .multiply_groups = columns / 64,
        .dependent_launch = 1};
    MatmulProblem problem;
    problem.m = 16;
    problem.n = problem.d.pitch = n;
    problem.k = problem.a.pitch = problem.b.pitch = 4096;
    const KernelFacts facts = {.target = "sm90a", .config = config};
    const double usual = price(facts, problem, {}, h200);
    problem.b_is_constant = true;
    return usual - price(facts, problem, {}, h200);
  };
  EXPECT_EQ(saved(64, 0, 6144), 0);
  EXPECT_GT(saved(128, 1, 6144), 0.2);
  EXPECT_GT(saved(64, 1, 6144), saved(64, 1, 4096) + 0.5);
}

TEST(Cost, ThreadsThatGatherAreSlowerThanTma) {
  MatmulProblem problem;
  problem.m = problem.n = problem.k = 4096;
  problem.a.pitch = problem.b.pitch = problem.d.pitch = 4096;
  constexpr MatmulConfig config = {.tiling = {.n = 128}, .dependent_launch = 1};
  const auto by = [&](const KernelFacts& facts) { return price(facts, problem, {}, h200); };
  const double tma = by({.target = "sm90a", .config = config});
  EXPECT_LT(tma * 1.5, by({.target = "sm90a", .config = config, .any_alignment = true}));
  EXPECT_LT(tma * 1.1, by({.target = "sm90a", .config = config, .by_threads = true}));
  // Pieces of two bytes in place of 16.
  problem.a.pitch = problem.b.pitch = 4097;
  EXPECT_LT(tma * 3, by({.target = "sm90a", .config = config, .by_threads = true}));
}

TEST(Cost, GroupsDoNotTakeTurnsAtOneTile) {
  // An image of 32 x 32 x 256, a filter of 3 x 3 x 256 to 256: 32 tiles.
  constexpr double bytes = 2 * (32 * 32 * 256 + 256 * 9 * 256);
  constexpr MatmulConfig pair = {.tiling = {.n = 64, .cluster = {2, 1}}, .dependent_launch = 1};
  constexpr MatmulConfig in_turns = {
      .tiling = {.n = 64}, .consumers = Consumers::PingPong, .c_stages = 2, .dependent_launch = 1};
  EXPECT_LT(
      microseconds(pair, 1024, 256, 2304, bytes, {}, listed("conv2d", "conv_bf16_64_2x1")),
      microseconds(in_turns, 1024, 256, 2304, bytes, {}, listed("conv2d", "conv_pingpong_64")));
}

// Kernels whose sums begin at C are ahead where there is one, and those without a role for it where
// there is none.
TEST(Cost, SumsThatBeginAtCAreTakenForIt) {
  constexpr double bytes = 2 * (2 * 64 * 64 * 320 + 320 * 9 * 320);
  constexpr MatmulConfig behind = {.tiling = {.n = 160}, .c_stages = 2, .dependent_launch = 1};
  constexpr MatmulConfig first = {.tiling = {.n = 160}, .initial_c = 1, .dependent_launch = 1};
  const auto by = [&](const MatmulConfig& config, bool adds) {
    static char source;
    MatmulProblem problem;
    problem.m = 8192;
    problem.n = problem.d.pitch = 320;
    problem.k = problem.a.pitch = problem.b.pitch = 2880;
    if (adds) problem.epilogue.source = &source;
    problem.epilogue.beta = adds ? 1.0f : 0.0f;
    const char* name = config.initial_c != 0 ? "conv_first_160" : "conv_bf16_160";
    return price({.target = "sm90a", .config = config, .efficiency = listed("conv2d", name)},
                 problem, {}, h200, Situation::Following, bytes);
  };
  EXPECT_LT(by(first, true), by(behind, true));
  EXPECT_LT(by(first, false), by(behind, false));
}

// Short sums do not hide C: what a ring holds a whole tile of is ahead of half a tile, of what
// threads read before the sums, and of what they read behind them. Long sums hide it.
TEST(Cost, SourcesThatNobodyBringsAreWaitedFor) {
  const auto by = [&](unsigned c_stages, unsigned initial_c, std::int64_t k, bool adds = true) {
    static char source;
    const MatmulConfig config = {.tiling = {.n = 128},
                                 .consumers = Consumers::PingPong,
                                 .c_stages = c_stages,
                                 .initial_c = initial_c,
                                 .dependent_launch = 1};
    MatmulProblem problem;
    problem.m = 50176;
    problem.n = problem.d.pitch = 1024;
    problem.k = problem.a.pitch = problem.b.pitch = k;
    if (adds) problem.epilogue.source = &source;
    problem.epilogue.beta = adds ? 1.0f : 0.0f;
    return price({.target = "sm90a", .config = config, .efficiency = 0.85}, problem, {}, h200);
  };
  EXPECT_LT(1.1 * by(4, 1, 256), by(2, 1, 256));
  EXPECT_LT(1.1 * by(2, 1, 256), by(0, 1, 256));
  EXPECT_LT(1.1 * by(0, 1, 256), by(0, 0, 256));
  EXPECT_LT(by(0, 1, 4608), 1.02 * by(4, 1, 4608));
  // C is read from memory, too.
  EXPECT_GT(by(4, 1, 64), by(4, 1, 64, false) + 0.5 * 2.0 * 50176 * 1024 / h200.bytes_per_us);
}

// 21 x 21 pixels of 744 channels, a filter of 5 x 5: 24 tiles do not fill the card, parts of their
// sums do. Many pixels need none.
TEST(Cost, FewPixelsWithLongSumsAreCutIntoParts) {
  constexpr double few = 2.0 * (21 * 21 * 744 + 744 * 25 * 744);
  constexpr MatmulConfig parts = {
      .tiling = {.n = 128, .cluster = {2, 1}}, .split = Split::Parts, .dependent_launch = 1};
  constexpr MatmulConfig whole = {.tiling = {.n = 64, .cluster = {2, 1}}, .dependent_launch = 1};
  const double of_parts = listed("conv2d", "conv_parts_128_2x1"),
               of_whole = listed("conv2d", "conv_bf16_64_2x1");
  EXPECT_LT(1.3 * microseconds(parts, 441, 744, 19200, few, {.split_k = 5}, of_parts),
            microseconds(whole, 441, 744, 19200, few, {}, of_whole));
  constexpr double many = 2.0 * (32 * 32 * 32 * 256 + 256 * 9 * 256);
  constexpr MatmulConfig in_turns = {.tiling = {.n = 128},
                                     .consumers = Consumers::PingPong,
                                     .initial_c = 1,
                                     .dependent_launch = 1};
  EXPECT_GT(microseconds(parts, 32768, 256, 2304, many, {.split_k = 2}, of_parts),
            microseconds(in_turns, 32768, 256, 2304, many, {},
                         listed("conv2d", "conv_first_pingpong_128")));
}

// Pixels of 32 channels fill half of a line, whose zeros cost less than those of 16 or 48.
TEST(Cost, HalvesOfLinesCostLessThanOtherParts) {
  const auto of_channels = [](std::int64_t channels) {
    MatmulProblem problem;
    problem.m = 131072;
    problem.n = problem.d.pitch = 64;
    problem.k = 9 * 64;
    problem.a.pitch = problem.a.batch_pitch = channels;
    problem.b.pitch = 9 * channels;
    const KernelFacts kernel = {.target = "sm90a",
                                .config = {.tiling = {.m = 256, .n = 64}, .dependent_launch = 1},
                                .efficiency = listed("conv2d", "conv_bf16_256x64")};
    return expected_microseconds(kernel, problem, {}, h200, Situation::Amid, 1e6);
  };
  EXPECT_LT(of_channels(64), 0.8 * of_channels(32));
  EXPECT_LT(of_channels(32), 0.8 * of_channels(16));
  EXPECT_LT(of_channels(32), 0.8 * of_channels(48));
}

// Rows of B that stream: with few rows of A faster than a copy of B, with many slower; and rows
// that begin at multiples of 16 bytes faster than others.
TEST(Cost, FewRowsStream) {
  constexpr MatmulConfig streams = {.tiling = {.m = 16, .n = 8, .swap_ab = 1},
                                    .dependent_launch = 1};
  const auto rows = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    MatmulProblem problem;
    problem.m = m;
    problem.n = n;
    problem.k = problem.a.pitch = problem.b.pitch = k;
    return price({.target = "sm90a",
                  .config = streams,
                  .by_warps = true,
                  .efficiency = listed("matmul", "rows_bf16_16x8")},
                 problem, {}, h200);
  };
  const auto copied = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    constexpr MatmulConfig config = {.tiling = {.m = 64, .n = 8, .spans = 2, .swap_ab = 1},
                                     .multiply_groups = 1,
                                     .dependent_launch = 1};
    return expected_copy_microseconds(2.0 * double(n) * double(k), h200) +
           microseconds(config, m, n, (k + 63) / 64 * 64);
  };
  EXPECT_LT(rows(1, 4096, 4095), copied(1, 4096, 4095));
  EXPECT_LT(rows(6, 50257, 1585), copied(6, 50257, 1585));
  EXPECT_GT(rows(256, 4096, 4095), copied(256, 4096, 4095));
  EXPECT_LT(rows(1, 4096, 4096) * 1.1, rows(1, 4096, 4095));
}

// A card of 78 SMs, with the tensor cores of its relatives and with its own: a kernel that wasted
// nothing would take as long as its products and its bytes do there, and none is expected to take
// less.
TEST(Cost, NoPriceBeatsThePeakOf78Sms) {
  for (const char* name : {"NVIDIA H100", "NVIDIA H20", "NVIDIA H20-3e"}) {
    const Machine machine =
        machine_of({.sms = 78, .cycles_per_us = 1830, .bytes_per_us = 4.0e6, .device = name});
    const double flop_of_sm = name == std::string("NVIDIA H100") ? 4096 : 4096 * 0.234;
    EXPECT_DOUBLE_EQ(machine.products_per_cycle * 128, flop_of_sm);
    for (const std::int64_t m : {1, 16, 64, 333, 1024, 8192}) {
      for (const std::int64_t n : {64, 1280, 8192}) {
        for (const std::int64_t k : {64, 1000, 4096, 16384}) {
          MatmulProblem problem;
          problem.m = m;
          problem.n = problem.d.pitch = n;
          problem.k = problem.a.pitch = problem.b.pitch = k;
          const double md = double(m), nd = double(n), kd = double(k);
          const double least = std::max(2 * md * nd * kd / (flop_of_sm * 1830 * 78),
                                        2 * (md * kd + nd * kd + md * nd) / 4.0e6);
          for (const unsigned columns : {8u, 64u, 128u, 256u}) {
            for (const Split split : {Split::Whole, Split::Parts, Split::Stream, Split::Cluster}) {
              for (const bool by_warps : {false, true}) {
                MatmulConfig config = {
                    .tiling = {.n = columns}, .split = split, .dependent_launch = 1};
                if (split == Split::Cluster) config.tiling.cluster = {1, 1, 2};
                if (columns == 8) config.tiling.swap_ab = 1;
                const KernelFacts facts = {
                    .target = "sm90a", .config = config, .by_warps = by_warps, .efficiency = 1};
                EXPECT_GE(price(facts, problem, {.split_k = 2}, machine), least)
                    << m << " x " << n << " x " << k << ", " << columns << " columns on " << name;
              }
            }
          }
        }
      }
    }
  }
}

// Amid foreign kernels a grid has the memory to itself: 5120 x 6912 weights by 80 CTAs took 20.4
// us, by 40 of them 22.0; behind each other, where the next 40 draw as well, 19.7 both.
TEST(Cost, FewSmsDrawLessThanTheMemoryHas) {
  constexpr MatmulConfig forty = {.tiling = {.m = 128, .n = 16, .swap_ab = 1},
                                  .dependent_launch = 1};
  constexpr MatmulConfig eighty = {
      .tiling = {.m = 64, .n = 8, .swap_ab = 1}, .multiply_groups = 1, .dependent_launch = 1};
  const auto memory = [](const MatmulConfig& config, Situation situation) {
    MatmulProblem problem;
    problem.m = 1;
    problem.n = problem.d.pitch = 5120;
    problem.k = problem.a.pitch = problem.b.pitch = 6912;
    const MatmulProblem product = product_of(config.tiling, problem);
    return price_of({.target = "sm90a", .config = config}, product, {}, h200, situation).memory_us;
  };
  EXPECT_GT(memory(forty, Situation::Amid), 1.1 * memory(eighty, Situation::Amid));
  EXPECT_LT(memory(forty, Situation::Following), memory(eighty, Situation::Following));
}

// Behind a kernel of ours a launch has idle SMs to begin on. Amid foreign kernels it does not, and
// a grid that leaves half of the card idle loses more than one that fills it.
TEST(Cost, HalfEmptyGridsCostMoreAmidForeignKernels) {
  constexpr MatmulConfig half = {.tiling = {.m = 128, .n = 16, .swap_ab = 1},
                                 .dependent_launch = 1};
  constexpr MatmulConfig full = {
      .tiling = {.m = 64, .n = 16, .swap_ab = 1}, .multiply_groups = 1, .dependent_launch = 1};
  const auto more = [](const MatmulConfig& config) {
    MatmulProblem problem;
    problem.m = 16;
    problem.n = problem.d.pitch = 8192;
    problem.k = problem.a.pitch = problem.b.pitch = 512;
    const KernelFacts facts = {.target = "sm90a", .config = config};
    return price(facts, problem, {}, h200, Situation::Amid) -
           price(facts, problem, {}, h200, Situation::Following);
  };
  EXPECT_GT(more(full), 0);
  EXPECT_GT(more(half), more(full) + 0.3);
}

// 768 x 10368 x 112 of e4m3: 11.6 us by five tiles of 128 x 96 for each SM, 9.1 by two of 128 x 256
// in pairs.
TEST(Cost, ManyTilesOfShortSumsCostMoreAmidForeignKernels) {
  constexpr Tiling narrow = {.n = 96, .a_type = ElementType::E4m3, .b_type = ElementType::E4m3};
  constexpr Tiling wide = {
      .a_type = ElementType::E4m3, .b_type = ElementType::E4m3, .cluster = {2, 1}};
  const auto microseconds_of = [](const Tiling& tiling, unsigned stagger, double efficiency,
                                  Situation situation) {
    MatmulProblem problem;
    problem.m = 768;
    problem.n = problem.d.pitch = 10368;
    problem.k = problem.a.pitch = problem.b.pitch = 112;
    problem.a.type = problem.b.type = ElementType::E4m3;
    const MatmulConfig config = {.tiling = tiling, .stagger = stagger, .dependent_launch = 1};
    return price({.target = "sm90a", .config = config, .efficiency = efficiency}, problem, {}, h200,
                 situation);
  };
  const double few = listed("matmul", "hopper_e4m3"), many = listed("matmul", "e4m3_128x96");
  EXPECT_LT(microseconds_of(wide, 2, few, Situation::Amid),
            microseconds_of(narrow, 0, many, Situation::Amid));
  EXPECT_GT(microseconds_of(wide, 2, few, Situation::Following),
            microseconds_of(narrow, 0, many, Situation::Following));
}

}  // namespace tw
