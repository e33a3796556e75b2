#include "src/bench/conv2d_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "src/bench/conv2d_suite.h"
#include "tests/bench/made_up.h"

namespace tw::bench::tests {
namespace {

Conv2dCase convolution(const char* text) {
  Conv2dCase shape;
  const Status status = read_conv2d_shape(shape, text);
  EXPECT_TRUE(status.is_good()) << status.sentence();
  return shape;
}

// A long one: 32 x 64 x 64 x 256 to 128, 3 x 3.
Conv2dResult measured(double own, double peer, double own_epilogue, double fused, double two) {
  Conv2dResult result;
  result.shape = convolution("32x64x64x256x128x3x3,1,1");
  result.rows = {{Conv2dRole::Peer, took("cudnn:62", peer)},
                 {Conv2dRole::PeerFused, took("cudnn:41", fused)},
                 {Conv2dRole::PeerThenKernel, took("cudnn:62 + kernel", two)},
                 {Conv2dRole::Own, took("conv_bf16", own)},
                 {Conv2dRole::Own, took("conv_bf16_2x1", 2 * own)},
                 {Conv2dRole::OwnEpilogue, took("conv_residual", own_epilogue)}};
  return result;
}

TEST(Conv2dCases, CountFlopsAndBytes) {
  const Conv2dCase shape = convolution("2x9x11x16x24x3x5,2,1,1");
  EXPECT_EQ(outputs_of(shape.h), 5);
  EXPECT_EQ(outputs_of(shape.w), 5);
  EXPECT_EQ(shape.pixels(), 50);
  EXPECT_EQ(shape.flops(), 2.0 * 50 * 24 * 15 * 16);
  EXPECT_EQ(shape.bytes(), 2.0 * (2 * 9 * 11 * 16 + 24 * 15 * 16 + 50 * 24));
  EXPECT_EQ(shape.bytes_with_residual() - shape.bytes(), 2.0 * 50 * 24);
  EXPECT_EQ(shape.text(), "2x9x11x16 to 24, 3x5 /2");
  const Conv2dCase depthwise = convolution("2x9x11x16x32x3x5,2,1,1,16");
  EXPECT_EQ(depthwise.flops(), 2.0 * 50 * 32 * 15);
  EXPECT_EQ(depthwise.bytes(), 2.0 * (2 * 9 * 11 * 16 + 32 * 15 + 50 * 32));
  EXPECT_EQ(depthwise.text(), "2x9x11x16 to 32, 3x5 /2 in 16");
}

TEST(Conv2dSuites, AreRead) {
  Conv2dSuite suite;
  const Status status = read_conv2d_suite(suite, TW_REPOSITORY "/bench/suites/conv2d-bf16.json");
  ASSERT_TRUE(status.is_good()) << status.sentence();
  EXPECT_EQ(suite.type, "bf16");
  ASSERT_EQ(suite.shapes.size(), 17u);
  EXPECT_EQ(suite.shapes[12].text(), "32x56x56x128 to 128, 3x3 /2");
  EXPECT_EQ(outputs_of(suite.shapes[12].h), 28);
  Conv2dSuite depthwise;
  ASSERT_TRUE(
      read_conv2d_suite(depthwise, TW_REPOSITORY "/bench/suites/conv2d-depthwise.json").is_good());
  for (const Conv2dCase& shape : depthwise.shapes) EXPECT_EQ(shape.groups, shape.c);
}

TEST(Conv2dSuites, RefuseWithASentence) {
  Conv2dSuite suite;
  EXPECT_EQ(read_conv2d_suite(suite, "nowhere").sentence(),
            "The suite 'nowhere' cannot be read: there is neither a file 'nowhere' nor "
            "'bench/suites/conv2d-nowhere.json'.");
  EXPECT_NE(read_conv2d_suite(suite, TW_REPOSITORY "/bench/suites/matmul-bf16.json")
                .sentence()
                .find("is no convolution: that has n, h, w, c, k, r and s"),
            std::string::npos);
  Conv2dCase shape;
  for (const char* text :
       {"", "1x2x3", "1x2x3x4x5x6x7x8", "1x1x1x8x8x1x0", "1x4x4x8x8x3x3,0", "1x4x4x8x8x3x3,1,-1",
        "1x4x4x8x8x3x3,1,1,1,3", "1x4x4x8x8x3x3,1,1,1,1,1", "1x4x4x8x8x3x3 ", "1x4x4x8x8x3x3,",
        "99999999999999999999x4x4x8x8x3x3"}) {
    EXPECT_NE(read_conv2d_shape(shape, text).sentence().find("is not of the form"),
              std::string::npos)
        << text;
  }
}

TEST(Conv2dReports, CompareTheFastest) {
  const Conv2dResult result = measured(100, 110, 102, 120, 140);
  EXPECT_EQ(result.fastest(Conv2dRole::Own)->name, "conv_bf16");
  EXPECT_DOUBLE_EQ(result.ratio(Conv2dRole::Peer, Conv2dRole::Own), 1.1);
  EXPECT_NEAR(result.overhead(), 0.02, 1e-12);
}

TEST(Conv2dReports, SummariseSuites) {
  std::vector<Conv2dResult> results = {measured(100, 110, 104, 104, 208),
                                       measured(100, 80, 101, 101, 99)};
  Conv2dSummary summary = summarise(results, 4e12);
  EXPECT_EQ(summary.beside_peer.count(), 2u);
  EXPECT_NEAR(summary.beside_peer.value(), std::sqrt(1.1 * 0.8), 1e-12);
  EXPECT_NEAR(summary.lowest.value, 0.8, 1e-12);
  EXPECT_EQ(summary.below.size(), 1u);
  EXPECT_NEAR(summary.beside_fused.value(), 1, 1e-12);
  EXPECT_EQ(summary.behind_two_kernels.size(), 1u);
  EXPECT_NEAR(summary.relative_time.value(), std::sqrt(1.04 * 1.01), 1e-12);
  EXPECT_NEAR(summary.highest_overhead.value, 0.04, 1e-12);
  EXPECT_TRUE(summary.failed.empty());

  // At a tenth of that bandwidth the bytes take longer than the products: overheads do not count.
  EXPECT_EQ(summarise(results, 4e11).relative_time.count(), 0u);
  // Nor do those of short ones.
  EXPECT_EQ(summarise({measured(19, 20, 40, 40, 40)}, 4e14).relative_time.count(), 0u);

  results[0].wrong = true;
  results[1].rows.clear();
  summary = summarise(results, 4e12);
  EXPECT_EQ(summary.failed.size(), 2u);
  EXPECT_EQ(summary.beside_peer.count(), 1u);
}

TEST(Conv2dReports, RegretIsOfTheFastestCompiled) {
  Conv2dResult worse = measured(100, 110, 102, 120, 140), better = worse;
  EXPECT_EQ(worse.regret(), 0);
  worse.rows.push_back({Conv2dRole::Compiled, took("conv_bf16_2x1", 80)});
  better.rows.push_back({Conv2dRole::Compiled, took("conv_bf16_2x1", 101)});
  EXPECT_DOUBLE_EQ(better.regret(), 1);
  const Conv2dSummary summary = summarise({better, worse}, 4e12);
  EXPECT_EQ(summary.regrets.count(), 2u);
  EXPECT_NEAR(summary.highest_regret.value, 1.25, 1e-12);
  EXPECT_NE(text_of(summary).find("2 shapes: 1.118 in the geometric mean, highest 1.250 at "),
            std::string::npos);
}

TEST(Conv2dReports, AreFiles) {
  std::vector<Conv2dResult> results = {measured(100, 110, 104, 104, 208)};
  results.push_back({.shape = results[0].shape,
                     .rows = {{Conv2dRole::Own, refused("tilewright")}},
                     .notes = {"peer: cuDNN 9 was not found."}});
  const Conv2dSummary summary = summarise(results, 4e12);
  const auto json = json_of(facts(), results, summary);
  EXPECT_EQ(json["device"], "NVIDIA H200");
  EXPECT_EQ(json["results"][0]["rows"].size(), 6u);
  EXPECT_EQ(json["results"][0]["rows"][3]["us"], 100);
  EXPECT_EQ(json["results"][0]["rows"][3]["side"], "own");
  EXPECT_EQ(json["results"][1]["rows"][0]["refused"], "It cannot.");
  EXPECT_EQ(json["results"][1]["notes"][0], "peer: cuDNN 9 was not found.");
  const std::string table = markdown_of(facts(), results, summary);
  EXPECT_NE(table.find("| 32x64x64x256 to 128, 3x3 | conv_bf16 | 100.00 | 773 | 90.00..110.00 | "
                       "110.00 | 1.100 | conv_residual | 104.00 | +4.0 % | 104.00 | 1.000 | 208.00 "
                       "| 2.000 |"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("| none | | | |"), std::string::npos) << table;
  EXPECT_NE(table.find("Not computed, or wrong: 32x64x64x256 to 128, 3x3."), std::string::npos);
}

}  // namespace
}  // namespace tw::bench::tests
