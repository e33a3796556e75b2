// Weights of four bits on the virtual GPU. described_test.cpp has more random problems.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "src/verify/virtual.h"
#include "tests/families/schedule.h"
#include "tests/families/seed.h"
#include "tilewright/family/four_bit/launch.h"

namespace tw {
extern const Trial four_bit_trial;
}  // namespace tw

namespace tw::tests {
namespace {

using Family = FourBitFamily;
using Problem = tw_four_bit_problem;

Case sized(const Instance& instance, std::int64_t m, std::int64_t n, std::int64_t k) {
  Case made = usual_case(four_bit_trial, instance);
  Problem& problem = made.as<Problem>();
  problem.m = m;
  problem.n = n;
  problem.k = k;
  return made;
}

TEST(FourBit, RandomProblems) {
  Random random(base_seed());
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  const char* count = std::getenv("TW_DESCRIBED_PROBLEMS");
  const std::size_t problems = count != nullptr ? std::strtoull(count, nullptr, 10) : 24;
  const std::span<const Instance> instances = four_bit_trial.instances();
  for (std::size_t i = 0; i < problems; ++i) {
    const Instance& instance = instances[i % instances.size()];
    const Case made = random_case(four_bit_trial, instance, random);
    const VirtualRun run = run_virtually(Verified(made), schedule(random(), instance.cluster));
    ASSERT_TRUE(run.clean()) << run_line(made) << "\n" << run.complaint();
  }
}

// Ones in A show single weights: D is a weight, bit for bit. In a block of mxfp4 every byte of a
// scale that packing writes stands in a group of its own, and four runs show all 16 codes of each.
TEST(FourBit, EveryCodeTimesEveryScaleIsExact) {
  const std::span<const Instance> instances = four_bit_trial.instances();
  for (const Instance& instance : instances) {
    const FourBitFacts& facts = *static_cast<const FourBitFacts*>(instance.facts);
    const PackedWeights& layout = facts.weights;
    if (!layout.is_e2m1()) continue;
    const unsigned rows = 4 * layout.groups();  // four columns of each group
    const bool is_bf16 = layout.activation == ElementType::Bf16;
    const bool is_e4m3 = layout.is_for_bytes();
    const unsigned lowest = layout.format == WeightFormat::Nvfp4 ? 12 * 8
                            : is_bf16                            ? 121
                            : is_e4m3                            ? 0
                                                                 : 6 * 8;
    const unsigned step = layout.format == WeightFormat::Mxfp4 && !is_bf16 ? 8 : 1;
    const unsigned highest = layout.format == WeightFormat::Nvfp4 ? 29 * 8 + 6
                             : is_bf16                            ? 254
                             : is_e4m3                            ? 88
                                                                  : 240;
    for (unsigned round = 0; round < 4; ++round) {
      Case made = sized(instance, rows, PackedWeights::rows, PackedWeights::k);
      HostProblem data(made);
      auto* const block = static_cast<unsigned char*>(data.tensor(Family::weights).data());
      std::memset(block, 0, layout.block_bytes());
      const unsigned count = (highest - lowest) / step + 1;
      const auto byte_of = [&](unsigned row, unsigned group) {
        if (row == 63) return is_e4m3 ? 91u : 255u;  // NaN, as packing writes it
        return lowest + (row * layout.groups() + group) % count * step;
      };
      const auto code_of = [&](unsigned row, unsigned column) {
        return row == 63 ? (is_e4m3 ? 7 : 0) : (row / 4 + 4 * round + column) % 16;
      };
      for (unsigned row = 0; row < PackedWeights::rows; ++row) {
        for (unsigned k = 0; k < PackedWeights::k; ++k) {
          const PackedWeights::Place place = layout.place_of(row, k);
          std::uint32_t word;
          std::memcpy(&word, block + place.byte, sizeof word);
          word |= layout.placed(code_of(row, k), place.part, place.element);
          std::memcpy(block + place.byte, &word, sizeof word);
          block[layout.scale_at(row, k / layout.group)] =
              static_cast<unsigned char>(byte_of(row, k / layout.group));
        }
      }
      const auto shown = [&](unsigned row) { return row / 4 * layout.group + row % 4 * 3; };
      data.tensor(Family::a).fill([&](auto, auto row, auto column) {
        return column == shown(static_cast<unsigned>(row)) ? 1.0 : 0.0;
      });
      if (facts.is_scaled) data.tensor(Family::a_scales).fill([](auto, auto, auto) { return 1.0; });
      const AnyProblem placed = data.placed();
      Checked checked;
      ASSERT_TRUE(check(checked, Family::description, placed.data()).is_good());
      vgpu::Report report;
      const Status status = instance.simulate(checked, {made.order}, {}, report);
      ASSERT_TRUE(status.is_good()) << status.sentence();
      for (unsigned row = 0; row < rows; ++row) {
        for (unsigned feature = 0; feature < PackedWeights::rows; ++feature) {
          const double found = data.tensor(Family::d).at(0, row, feature);
          if (feature == 63) {
            EXPECT_TRUE(std::isnan(found));
            continue;
          }
          const unsigned byte = byte_of(feature, row / 4), code = code_of(feature, shown(row));
          const double value = static_cast<float>(E2m1::from_bits(static_cast<std::uint8_t>(code)));
          const double scale = layout.format == WeightFormat::Nvfp4
                                   ? std::ldexp(8 + byte % 8, byte / 8 - 24)
                               : is_bf16 ? std::ldexp(1.0, static_cast<int>(byte) - 253)
                               : is_e4m3 ? std::ldexp(1.0, static_cast<int>(byte / 8) - 5)
                                         : std::ldexp(1.0, static_cast<int>(byte / 8) - 29);
          EXPECT_EQ(found, value * scale)
              << instance.name << ": code " << code << ", scale byte " << byte;
        }
      }
    }
  }
}

TEST(FourBit, KernelsRefuseWhatTheyDoNotTake) {
  const Instance& instance = four_bit_trial.instances()[0];
  const auto refusal = [&](const auto& change) {
    HostProblem data = Verified(sized(instance, 5, 70, 200)).given();
    AnyProblem placed = data.placed();
    change(placed.as<Problem>());
    Checked checked;
    Status status = check(checked, Family::description, placed.data());
    if (!status.is_good()) return status.sentence();
    vgpu::Report report;
    return instance.simulate(checked, {usual_case(four_bit_trial, instance).order}, {}, report)
        .sentence();
  };
  EXPECT_EQ(refusal([](Problem&) {}), "");
  EXPECT_EQ(refusal([](Problem& p) { p.scale_group = 64; }),
            "64 of k share a scale, but of mxfp4 it is 32.");
  EXPECT_EQ(refusal([](Problem& p) {
              p.format = TW_INT4;
              p.scale_group = 64;
            }),
            "The weights are int4 with scales of 64 of k; this kernel takes mxfp4 of 32.");
  EXPECT_EQ(refusal([](Problem& p) {
              p.a_scales = {p.d.data, 2, 1, 0, TW_FP32};
            }),
            "A has scales of 128 of k and type bf16, but only e4m3 has such scales.");
  EXPECT_EQ(
      refusal([](Problem& p) {
        p.epilogue.alpha = 0x1p120f;
        p.exponent = 20;
      }),
      "alpha is 1.329228e+36 and the weights' exponent 20: 2 to that times alpha is no finite "
      "number.");
  EXPECT_EQ(
      refusal([](Problem& p) { p.weights = static_cast<const unsigned char*>(p.weights) + 8; }),
      "The weights begin at a multiple of 8 bytes, but blocks of them are copied from multiples "
      "of 16.");
}

}  // namespace
}  // namespace tw::tests
