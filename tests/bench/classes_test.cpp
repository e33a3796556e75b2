#include "src/bench/harness/classes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/bench/made_up.h"

namespace tw::bench::tests {

namespace {

const ClassSummary& named(const std::vector<ClassSummary>& classes, const std::string& name) {
  for (const ClassSummary& one : classes) {
    if (one.name == name) return one;
  }
  throw std::out_of_range(name);
}

}  // namespace

TEST(Classes, ColumnsHaveMeanMedianSumAndWorst) {
  const auto classes =
      classes_of({in_company(16, 64, 64, 10, 5, 12, 12), in_company(17, 64, 64, 20, 20, 22, 42),
                  in_company(1025, 64, 64, 300, 600, 302, 602)});
  const ClassSummary& all = classes.front();
  EXPECT_EQ(all.name, "all");
  EXPECT_EQ(all.alone.count, 3u);
  EXPECT_NEAR(all.alone.mean, 1, 1e-12);
  EXPECT_NEAR(all.alone.median, 1, 1e-12);
  EXPECT_NEAR(all.alone.sum, 330. / 625, 1e-12);
  EXPECT_EQ(all.alone.worst.shape, "1025 x 64 x 64");
  EXPECT_NEAR(all.alone.worst.value, 0.5, 1e-12);
  EXPECT_NEAR(all.between.mean, std::cbrt(1 * 22. / 42 * 302 / 602), 1e-12);
  // Two microseconds less on both sides.
  EXPECT_NEAR(all.between_less.mean, std::cbrt(1 * 0.5 * 0.5), 1e-12);
  EXPECT_NEAR(all.between_less.sum, (10. + 20 + 300) / (10 + 40 + 600), 1e-12);
}

TEST(Classes, AreOfRowsAndOfThePeersTime) {
  const auto classes = classes_of(
      {in_company(16, 64, 64, 11.9, 10, 14, 14), in_company(64, 64, 64, 12, 10, 14, 14),
       in_company(65, 64, 64, 100, 50, 102, 52), in_company(1024, 64, 64, 100, 200, 102, 202)});
  EXPECT_EQ(named(classes, "m <= 16").alone.count, 1u);
  EXPECT_EQ(named(classes, "m 17 to 64").alone.count, 1u);
  EXPECT_EQ(named(classes, "m 65 to 256").alone.worst.value, 2);
  EXPECT_EQ(named(classes, "m 257 to 1024").alone.mean, 0.5);
  EXPECT_THROW(named(classes, "m > 1024"), std::out_of_range);
  EXPECT_EQ(named(classes, "peer < 12 us").alone.count, 1u);
  EXPECT_EQ(named(classes, "peer >= 12 us").alone.count, 3u);
}

TEST(Classes, OfAnEvenNumberTheMedianIsTheLower) {
  EXPECT_EQ(classes_of({beside(1, 8, 8, 10, 5), beside(1, 8, 16, 10, 20)}).front().alone.median,
            0.5);
}

TEST(Classes, WhatWasNotMeasuredCountsInNoColumn) {
  ShapeResult refused_one = in_company(16, 64, 64, 10, 5, 12, 12);
  refused_one.own = {refused("tilewright")};
  const auto classes = classes_of({refused_one, beside(16, 64, 64, 10, 5)});
  EXPECT_EQ(classes.front().alone.count, 1u);
  EXPECT_EQ(classes.front().between.count, 0u);
  EXPECT_EQ(text_of(classes).find("foreign"), std::string::npos);
  EXPECT_TRUE(classes_of({refused_one}).empty());
  EXPECT_EQ(text_of(classes_of({refused_one})), "");
}

// A peer that does less than we do.
TEST(Classes, SumsAreOfAsMuchWork) {
  ShapeResult result = in_company(16, 64, 64, 10, 11, 12, 13);
  result.peer_share = 1.1;
  EXPECT_NEAR(classes_of({result}).front().alone.sum, 1, 1e-12);
  EXPECT_NEAR(classes_of({result}).front().between_less.sum, 1, 1e-12);
}

TEST(Classes, RegretInCompanyIsOfItsOwnFastest) {
  ShapeResult result = in_company(16, 64, 64, 10, 8, 12, 14);
  EXPECT_EQ(result.between_regret(), 0);
  result.compiled_between = took("bf16_16x64", 9);
  result.compiled_between->between_us = 12;
  EXPECT_NEAR(result.between_regret(), 1.2, 1e-12);
  EXPECT_NEAR(summarise({result}, 0).between_regrets.value(), 1.2, 1e-12);
}

}  // namespace tw::bench::tests
