#include "src/bench/harness/tuned.h"

#include <gtest/gtest.h>

#include "src/dispatch/tuning.h"
#include "tests/bench/made_up.h"

namespace tw::bench::tests {

TEST(Tuned, AnExceptionIsFasterInBothPasses) {
  const std::vector<Measurement> first = {took("model", 100), took("a", 90), took("b", 95)};
  const std::vector<Measurement> second = {took("model", 100), took("a", 99), took("b", 96)};
  const auto found = find_exception(first, second, 0);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->candidate, 2u);
  EXPECT_NEAR(found->gain, 100.0 / 96, 1e-12);
}

TEST(Tuned, TwoPercentAreNotEnough) {
  const std::vector<Measurement> model_first = {took("model", 102), took("a", 100)};
  EXPECT_FALSE(find_exception(model_first, model_first, 0).has_value());
  const std::vector<Measurement> other = {took("model", 103), took("a", 100)};
  EXPECT_TRUE(find_exception(other, other, 0).has_value());
  EXPECT_FALSE(find_exception(other, model_first, 0).has_value());
}

TEST(Tuned, WhatDidNotRunIsNoException) {
  const std::vector<Measurement> broken = {took("model", 100), refused("a")};
  EXPECT_FALSE(find_exception(broken, broken, 0).has_value());
  EXPECT_FALSE(find_exception(broken, broken, 1).has_value());
}

TEST(Tuned, TheFileIsExtended) {
  const std::string path = testing::TempDir() + "tuned/h200.json";
  std::remove(path.c_str());
  MeasuredTable table;
  EXPECT_FALSE(read_table(table, path).is_good());
  table.version = "0.5.0";
  table.device = "NVIDIA H200";
  const std::string first = "matmul bf16 64x4096x4096", second = "conv2d bf16 1x7x7x64x64x3x3,1,1";
  update(table, {first, second},
         {{second, "bf16_128x64", 1, 0, Raster::AlongM, 1.04},
          {first, "hopper_split", 3, 4, Raster::AlongN, 1.1}});
  ASSERT_TRUE(write_table(table, path).is_good());
  MeasuredTable again;
  ASSERT_TRUE(read_table(again, path).is_good());
  EXPECT_EQ(again.version, "0.5.0");
  EXPECT_EQ(again.device, "NVIDIA H200");
  ASSERT_EQ(again.launches.size(), 2u);
  EXPECT_EQ(again.launches[0].call, second);
  EXPECT_EQ(again.launches[1].call, first);
  EXPECT_EQ(again.launches[1].instance, "hopper_split");
  EXPECT_EQ(again.launches[1].split_k, 3);
  EXPECT_EQ(again.launches[1].group, 4);
  EXPECT_EQ(again.launches[1].raster, Raster::AlongN);
  EXPECT_NEAR(again.launches[1].gain, 1.1, 1e-9);
  // Measured again without an exception, and another type: only the first goes.
  update(again, {first, "conv2d fp16 1x7x7x64x64x3x3,1,1"}, {});
  ASSERT_EQ(again.launches.size(), 1u);
  EXPECT_EQ(again.launches[0].call, second);
}

TEST(Tuned, AFileThatCannotBeWrittenIsRefused) {
  EXPECT_EQ(write_table({}, "/proc/nowhere/h200.json").sentence(),
            "The file '/proc/nowhere/h200.json' cannot be written.");
}

}  // namespace tw::bench::tests
