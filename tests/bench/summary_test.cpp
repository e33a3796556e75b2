#include "src/bench/harness/summary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/bench/made_up.h"

namespace tw::bench::tests {

TEST(Summary, MeansAreGeometric) {
  const Summary summary = summarise(
      {beside(16, 4096, 4096, 10, 20), beside(4096, 128, 64, 80, 40), beside(64, 4096, 4096, 8, 4)},
      0);
  EXPECT_EQ(summary.shapes, 3u);
  EXPECT_EQ(summary.compared, 3u);
  EXPECT_NEAR(summary.mean_ratio, std::cbrt(0.5 * 2 * 2), 1e-12);
  EXPECT_EQ(summary.decode_compared, 2u);
  EXPECT_NEAR(summary.decode_mean_ratio, 1.0, 1e-12);
  EXPECT_EQ(summary.lowest.shape, "16 x 4096 x 4096");
  EXPECT_EQ(summary.lowest.value, 0.5);
  EXPECT_TRUE(summary.bandwidth.empty());
}

TEST(Summary, ListsWhatIsBelowLowestFirst) {
  const Summary summary = summarise(
      {beside(128, 8, 8, 92, 100), beside(128, 8, 16, 93, 100), beside(128, 8, 24, 50, 100)}, 0);
  ASSERT_EQ(summary.below.size(), 2u);
  EXPECT_EQ(summary.below[0].shape, "128 x 8 x 24");
  EXPECT_EQ(summary.below[1].value, 0.92);
  EXPECT_NE(text_of(summary).find("Below 0.93: 2 shapes: 128 x 8 x 24 (0.500), 128 x 8 x 8"),
            std::string::npos);
}

TEST(Summary, DecodeHasItsShareOfTheCopy) {
  // bf16: 2 (64 4096 + 4096 4096 + 64 4096) bytes in 10 us.
  const Summary summary =
      summarise({beside(64, 4096, 4096, 10, 10), beside(128, 4096, 4096, 10, 10)}, 4e12);
  ASSERT_EQ(summary.bandwidth.size(), 1u);
  EXPECT_NEAR(summary.bandwidth[0].value, 2 * 4096.0 * (64 + 4096 + 64) / 10e-6 / 4e12, 1e-12);
}

TEST(Summary, TakesTheFastestOfOurs) {
  ShapeResult result = beside(128, 8, 8, 100, 200);
  result.own.push_back(refused("hopper_split"));
  result.own.push_back(took("bf16_16x64", 80));
  EXPECT_EQ(result.best()->name, "bf16_16x64");
  EXPECT_EQ(summarise({result}, 0).mean_ratio, 1.25);
}

TEST(Summary, KnowsWhatDidNotRun) {
  ShapeResult without_peer = beside(128, 8, 8, 100, 200);
  without_peer.peer.reset();
  ShapeResult failed = beside(8, 8, 8, 100, 200);
  failed.own = {refused("tilewright")};
  const Summary summary = summarise({without_peer, failed}, 4e12);
  EXPECT_EQ(summary.shapes, 1u);
  EXPECT_EQ(summary.compared, 0u);
  ASSERT_EQ(summary.failed.size(), 1u);
  EXPECT_EQ(summary.failed[0].shape, "8 x 8 x 8");
  EXPECT_EQ(text_of(summary),
            "1 shapes measured, none beside a peer.\n"
            "A copy on the device reads and writes 4.00 TB/s.\n"
            "Not computed, or wrong: 8 x 8 x 8.\n");
}

TEST(Summary, RegretIsOfTheFastestCompiled) {
  ShapeResult worse = beside(16, 4096, 4096, 10, 20);
  worse.compiled = took("bf16_16x64", 16);
  ShapeResult better = beside(32, 4096, 4096, 10, 20);  // the choice was the fastest, after all
  better.compiled = took("bf16_32x64", 25);
  ShapeResult failed = beside(64, 4096, 4096, 10, 20);
  failed.compiled = refused("bf16_64x64");
  const std::vector<ShapeResult> results = {worse, better, failed, beside(1, 4096, 4096, 10, 20)};
  const Summary summary = summarise(results, 0);
  EXPECT_EQ(summary.regrets.count(), 2u);
  EXPECT_NEAR(summary.regrets.value(), std::sqrt(1.25), 1e-9);
  EXPECT_EQ(summary.highest_regret.shape, "16 x 4096 x 4096");
  EXPECT_NE(text_of(summary).find("2 shapes: 1.118 in the geometric mean, highest 1.250 at 16 x "
                                  "4096 x 4096."),
            std::string::npos);
}

TEST(Summary, NamesWhatNoTimeWasLeftFor) {
  Summary summary = summarise({beside(16, 4096, 4096, 10, 20)}, 0);
  summary.left_out = {"8 x 8 x 8", "8 x 8 x 16"};
  EXPECT_NE(text_of(summary).find("No time was left for 2 shapes: 8 x 8 x 8, 8 x 8 x 16.\n"),
            std::string::npos);
}

TEST(Summary, RaggedShapesAreComparedWithRoundedUpOnes) {
  ShapeResult ragged = beside(1000, 3000, 5000, 90, 99);
  ragged.rounded_up = took("bf16_128x224", 90);
  EXPECT_NEAR(summarise({ragged}, 0).mean_of_rounded_up, 1.1, 1e-12);
}

}  // namespace tw::bench::tests
