#include "src/bench/tuned.h"

#include <gtest/gtest.h>

#include <fstream>

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
  TunedTable table;
  ASSERT_TRUE(read_tuned(table, path).is_good());
  EXPECT_TRUE(table.entries.empty());
  table.device = "NVIDIA H200";
  const MatmulCase first = {64, 4096, 4096}, second = {128, 4096, 4096};
  update(table, {first, second},
         {{"bf16", 128, 4096, 4096, "bf16_128x64", 1, 0, 'm', 1.04},
          {"bf16", 64, 4096, 4096, "hopper_split", 3, 4, 'n', 1.1}});
  ASSERT_TRUE(write_tuned(table, path).is_good());
  TunedTable again;
  ASSERT_TRUE(read_tuned(again, path).is_good());
  EXPECT_EQ(again.device, "NVIDIA H200");
  ASSERT_EQ(again.entries.size(), 2u);
  EXPECT_EQ(again.entries[0].m, 64);
  EXPECT_EQ(again.entries[0].instance, "hopper_split");
  EXPECT_EQ(again.entries[0].split_k, 3);
  EXPECT_EQ(again.entries[0].group, 4);
  EXPECT_EQ(again.entries[0].raster, 'n');
  // Measured again without an exception, and another type: only the first goes.
  MatmulCase other_type = second;
  other_type.type = ElementType::E4m3;
  update(again, {first, other_type}, {});
  ASSERT_EQ(again.entries.size(), 1u);
  EXPECT_EQ(again.entries[0].m, 128);
}

TEST(Tuned, AnythingElseIsRefused) {
  const std::string path = testing::TempDir() + "not_tuned.json";
  std::ofstream(path) << "{\"device\": 3}";
  TunedTable table;
  EXPECT_NE(read_tuned(table, path).sentence().find("is not one that --tune writes"),
            std::string::npos);
  EXPECT_NE(write_tuned(table, "/proc/nowhere/h200.json").sentence().find("cannot be written"),
            std::string::npos);
}

}  // namespace tw::bench::tests
