#include "src/bench/harness/report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/bench/made_up.h"

namespace tw::bench::tests {

namespace {

nlohmann::json json_of_all(const std::vector<ShapeResult>& results) {
  return json_of(facts(), results, summarise(results, 4.26e12));
}

}  // namespace

TEST(Report, JsonHoldsTheRunAndItsSummary) {
  const auto json = json_of_all({beside(16, 4096, 4096, 10, 20), beside(4096, 128, 64, 80, 40)});
  EXPECT_EQ(json["date"], "2026-11-15 10:00:00 UTC");
  EXPECT_EQ(json["device"], "NVIDIA H200");
  EXPECT_EQ(json["driver"], "580.0");
  EXPECT_EQ(json["commit"], "");
  EXPECT_EQ(json["command"], "./tw bench matmul --suite bf16");
  EXPECT_EQ(json["summary"]["shapes"], 2);
  EXPECT_EQ(json["summary"]["lowest_ratio"]["shape"], "16 x 4096 x 4096");
  EXPECT_EQ(json["summary"]["copy_tb_per_s"], 4.26);
  EXPECT_EQ(json["summary"]["below_0.93"].size(), 1u);
  ASSERT_EQ(json["results"].size(), 4u);
  const auto& own = json["results"][1];
  EXPECT_EQ(own["side"], "own");
  EXPECT_EQ(own["kernel"], "bf16_64x64");
  EXPECT_EQ(own["ratio"], 0.5);
  EXPECT_EQ(own["low_us"], 18.0);
  EXPECT_EQ(own["sm_mhz"], 1500);
  EXPECT_EQ(own["watts"], 690);
  EXPECT_EQ(own["temperature"], 60);
}

TEST(Report, WhatWasNotMeasuredIsNull) {
  ShapeResult result = beside(16, 4096, 4096, 10, 20);
  result.peer.reset();
  result.own[0].reading = {};
  result.own.push_back(refused("hopper_split"));
  const auto json = json_of_all({result});
  EXPECT_TRUE(json["results"][0]["ratio"].is_null());
  EXPECT_TRUE(json["results"][0]["watts"].is_null());
  EXPECT_EQ(json["results"][1]["refused"], "It cannot.");
  EXPECT_TRUE(json["summary"]["geometric_mean_ratio"].is_null());
}

TEST(Report, LinesForFitsHoldWhatRan) {
  ShapeResult result = beside(16, 4096, 512, 10, 20);
  result.own.push_back(refused("hopper_split"));
  result.compiled = took("hopper_split /2", 16);
  result.own[0].between_us = 24;
  result.own[0].between_low_us = 23;
  result.own[0].between_high_us = 25;
  result.foreign_us = 1.5;
  EXPECT_EQ(csv_head(facts()),
            "# NVIDIA H200, driver 580.0, commit unknown, 2026-11-15 10:00:00 UTC; 11 rounds of "
            "slices of 30 ms\n# ./tw bench matmul --suite bf16\n"
            "family,type,m,n,k,side,kernel,us,low_us,high_us,sm_mhz,watts,between_us,"
            "between_low_us,between_high_us,foreign_us,shape\n");
  EXPECT_EQ(
      csv_of(facts(), result),
      "matmul,bf16,16,4096,512,peer,cublaslt#3,10.000,9.000,11.000,1500,690,0.000,0.000,0.000,"
      "1.500,\"16 x 4096 x 512\"\n"
      "matmul,bf16,16,4096,512,own,bf16_64x64,20.000,18.000,22.000,1500,690,24.000,23.000,25.000,"
      "1.500,\"16 x 4096 x 512\"\n"
      "matmul,bf16,16,4096,512,compiled,hopper_split /2,16.000,14.400,17.600,1500,690,0.000,0.000,"
      "0.000,1.500,\"16 x 4096 x 512\"\n");
}

TEST(Report, TheTableHasOneLinePerShape) {
  ShapeResult failed = beside(8, 8, 8, 100, 200);
  failed.own = {refused("tilewright")};
  const std::vector<ShapeResult> results = {beside(16, 4096, 4096, 10, 20),
                                            beside(4096, 4096, 4096, 200, 100), failed};
  const std::string table = markdown_of(facts(), results, summarise(results, 0));
  EXPECT_NE(table.find("\n| 16 x 4096 x 4096 | bf16_64x64 | 20.00 | 1.69 TB/s | 18.00..22.00 | "
                       "cublaslt#3 | 10.00 | 0.500 |\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("\n| 4096 x 4096 x 4096 | bf16_64x64 | 100.00 | 1374 TFLOP/s |"),
            std::string::npos);
  EXPECT_NE(table.find("\n| 8 x 8 x 8 | none | | | | cublaslt#3 | 100.00 | |\n"),
            std::string::npos);
}

TEST(Report, ForeignKernelsBetweenLaunchesHaveTheirColumns) {
  const std::vector<ShapeResult> results = {in_company(16, 4096, 4096, 10, 8, 12, 14)};
  const std::string table = markdown_of(facts(), results, summarise(results, 0));
  EXPECT_NE(table.find("| between, us | peer between, us | ratio | less foreign |"),
            std::string::npos);
  EXPECT_NE(table.find("| cublaslt#3 of 16 | 10.00 | 1.250 | 14.00 | 12.00 | 0.857 | 0.833 |\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("\n| m <= 16 | 1 | 1.250 |"), std::string::npos);
  EXPECT_NE(table.find("The foreign kernel takes 2.00 us"), std::string::npos);
  EXPECT_NE(table.find("The peer is the fastest of 16 to 16 that were tried"), std::string::npos);
  const auto json = json_of_all(results);
  EXPECT_EQ(json["results"][1]["between_us"], 14);
  EXPECT_EQ(json["classes"][1]["class"], "m <= 16");
  EXPECT_NEAR(json["classes"][1]["between_less_foreign"]["geometric_mean"], 10. / 12, 1e-12);
  EXPECT_NE(text_of(results[0]).find("less the foreign kernel 0.833; peer 12.00 us"),
            std::string::npos);
  // The fastest in company has its own line where it is another.
  ShapeResult other = results[0];
  other.peer_between->name = "cublaslt#7";
  EXPECT_NE(csv_of(facts(), other).find(",peer between,cublaslt#7,"), std::string::npos);
  other.peer_between->name = "cudnn:62/2=3,13=0";
  EXPECT_NE(csv_of(facts(), other).find(",peer between,cudnn:62/2=3;13=0,"), std::string::npos);
}

TEST(Report, RaggedShapesHaveTheirRoundedUpTime) {
  ShapeResult ragged = beside(1000, 3000, 5000, 90, 99);
  ragged.larger_shape = product(1024, 3008, 5056);
  ragged.rounded_up = took("bf16_128x224", 90);
  const auto json = json_of_all({ragged});
  ASSERT_EQ(json["results"].size(), 3u);
  EXPECT_EQ(json["results"][2]["of_rounded_up"], 1.1);
  EXPECT_EQ(json["results"][2]["m"], 1024);
  EXPECT_NE(markdown_of(facts(), {ragged}, summarise({ragged}, 0)).find("| 90.00 | 1.100 |\n"),
            std::string::npos);
}

// With an epilogue; the product takes 100 us.
ShapeResult with_epilogue(double own, double peer, double fused, double two) {
  ShapeResult result = beside(4096, 4096, 4096, peer, 100);
  result.own_epilogue = {took("residual", own)};
  result.peer_fused = took("cudnn:41", fused);
  result.peer_then_kernel = took("cudnn:62 + kernel", two);
  return result;
}

TEST(Report, EpiloguesAreComparedWithTheirOwn) {
  const std::vector<ShapeResult> results = {with_epilogue(104, 110, 104, 208),
                                            with_epilogue(101, 80, 101, 99)};
  EXPECT_NEAR(results[0].overhead(), 0.04, 1e-12);
  EXPECT_EQ(beside(8, 8, 8, 1, 1).overhead(), -1);
  const Summary summary = summarise(results, 4e12);
  EXPECT_NEAR(summary.beside_fused.value(), 1, 1e-12);
  EXPECT_EQ(summary.behind_two_kernels, 1u);
  EXPECT_NEAR(summary.relative_time.value(), std::sqrt(1.04 * 1.01), 1e-12);
  EXPECT_NEAR(summary.highest_overhead.value, 0.04, 1e-12);
  // At a tenth of that bandwidth the bytes take longer than the products: overheads do not count.
  EXPECT_EQ(summarise(results, 4e11).relative_time.count(), 0u);
  // Nor do those of short ones.
  ShapeResult brief = beside(128, 128, 128, 20, 19);
  brief.own_epilogue = {took("residual", 40)};
  EXPECT_EQ(summarise({brief}, 4e14).relative_time.count(), 0u);
  const auto json = json_of_all(results);
  ASSERT_EQ(json["results"].size(), 10u);
  EXPECT_EQ(json["results"][4]["side"], "own, epilogue");
  EXPECT_EQ(json["results"][4]["ratio"], 1);
  EXPECT_NE(markdown_of(facts(), results, summary)
                .find("| 1.100 | residual | 104.00 | +4.0 % | 104.00 | 1.000 | 208.00 | 2.000 |\n"),
            std::string::npos);
  EXPECT_NE(text_of(results[0]).find("own, epilogue"), std::string::npos);
}

// A peer that does less than we do.
TEST(Report, RatiosAreOfAsMuchWork) {
  ShapeResult result = beside(4096, 4096, 4096, 100, 110);
  result.peer_share = 1.1;
  EXPECT_DOUBLE_EQ(result.ratio(), 1);
}

TEST(Report, WrongOutputsFail) {
  ShapeResult result = beside(4096, 4096, 4096, 100, 110);
  result.wrong = true;
  result.notes = {"The output of bf16_64x64 differs by 1 of its norm."};
  const Summary summary = summarise({result}, 0);
  ASSERT_EQ(summary.failed.size(), 1u);
  EXPECT_NE(text_of(summary).find("Not computed, or wrong: 4096 x 4096 x 4096."),
            std::string::npos);
  EXPECT_NE(text_of(result).find("differs by 1"), std::string::npos);
  EXPECT_EQ(json_of_all({result})["results"][0]["notes"][0], result.notes[0]);
}

}  // namespace tw::bench::tests
