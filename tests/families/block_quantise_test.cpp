// Quantisers to the block-scaled formats and back on the virtual GPU: the host's bytes, padding
// included.
// described_test.cpp has more random problems.
#include "src/families/block_quantise.h"

#include <gtest/gtest.h>

#include "src/families/block_dequantise.h"
#include "src/verify/virtual.h"
#include "tests/families/schedule.h"
#include "tests/families/seed.h"
#include "tilewright/family/block_quantise/launch.h"

namespace tw::tests {
namespace {

using Problem = tw_block_quantise_problem;
using Family = BlockQuantiseFamily;

TEST(BlockQuantise, EveryKernelGivesTheHostsBytes) {
  Random random(base_seed());
  SCOPED_TRACE(testing::Message() << "TW_SEED=" << base_seed());
  for (const Instance& instance : block_quantise_instances()) {
    for (int i = 0; i < 6; ++i) {
      const Case made = random_case(block_quantise_trial, instance, random);
      const VirtualRun run = run_virtually(Verified(made), schedule(random()));
      ASSERT_TRUE(run.clean()) << run_line(made) << "\n" << run.complaint();
      ASSERT_TRUE(run.comparison.exact);
    }
  }
}

TEST(BlockDequantise, GivesTheHostsNumbers) {
  Random random(base_seed());
  SCOPED_TRACE(testing::Message() << "TW_SEED=" << base_seed());
  for (int i = 0; i < 40; ++i) {
    Case made = random_case(block_dequantise_trial, block_dequantise_instances()[0], random);
    made.fill = i % 4 == 0 ? Fill::Integers : Fill::Normal;
    const VirtualRun run = run_virtually(Verified(made), schedule(random()));
    ASSERT_TRUE(run.clean()) << run_line(made) << "\n" << run.complaint();
    ASSERT_TRUE(run.comparison.exact);
  }
}

TEST(BlockQuantise, RefusesWithASentence) {
  const auto refusal = [](const auto& change) {
    Case made = usual_case(block_quantise_trial, block_quantise_instances()[0]);
    HostProblem data = Verified(made).given();
    AnyProblem placed = data.placed();
    change(placed.as<Problem>());
    Checked checked;
    const Status status = check(checked, Family::description, placed.data());
    return status.is_good() ? made.instance->supports(checked, {}).sentence() : status.sentence();
  };
  using P = Problem;
  EXPECT_EQ(refusal([](P&) {}), "");
  EXPECT_EQ(refusal([](P& p) { p.scale = TW_UE4M3; }),
            "The elements have type e4m3, but those with scales of ue4m3 are e2m1.");
  EXPECT_EQ(refusal([](P& p) { p.tensor_scale = 0.0f; }),
            "tensor_scale = 0 must be above 0.");
  EXPECT_EQ(refusal([](P& p) { p.scales = nullptr; }), "The address of the scales is null.");
  EXPECT_EQ(refusal([](P& p) { p.elements.type = TW_E5M2; }),
            "The elements are e5m2 with scales of ue8m0; this kernel makes e4m3 with scales of "
            "ue8m0.");
  const auto behind = [](P& p) { p.scales = static_cast<std::uint8_t*>(p.scales) + 1; };
  EXPECT_EQ(refusal(behind), "Scales in blocks must begin at a multiple of 4 bytes.");
  EXPECT_EQ(refusal([&](P& p) {
              behind(p);
              p.scale_order = TW_SCALES_IN_ROWS;
            }),
            "");
}

}  // namespace
}  // namespace tw::tests
