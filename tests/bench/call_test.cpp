#include "src/bench/harness/call.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "src/families/conv2d_words.h"

namespace tw::bench::tests {
namespace {

TEST(Call, ProductsAreReadAsTheDispatcherSaysThem) {
  MatmulProblem problem;
  problem.m = 64;
  problem.n = 4096;
  problem.k = 1024;
  problem.a.type = problem.b.type = ElementType::E4m3;
  for (const char* family : {"matmul", "blockwise"}) {
    MeasuredCall call;
    const Status status = read_call(call, call_of(family, problem));
    ASSERT_TRUE(status.is_good()) << status.sentence();
    EXPECT_STREQ(call.what.description().name, family);
    EXPECT_EQ(call.what.shape.text, "64 x 4096 x 1024");
    EXPECT_EQ(call.what.shape.type, ElementType::E4m3);
    EXPECT_EQ(call.words, call_of(family, problem));
  }
  problem.b.major = Major::MN;
  EXPECT_EQ(call_of("matmul", problem), "");
}

TEST(Call, ConvolutionsAreReadAsTheDispatcherSaysThem) {
  tw_conv2d_problem problem = {};
  problem.n = 32;
  problem.groups = 1;
  problem.c = 64;
  problem.k = 128;
  problem.h = {56, 3, 2, 1, 1, 1};
  problem.w = {28, 5, 2, 1, 1, 1};
  problem.depth = {1, 1, 1, 1, 0, 0};
  EXPECT_EQ(call_of(problem), "conv2d bf16 32x56x28x64x128x3x5,2,1");
  for (const std::int64_t groups : {1, 4}) {
    for (const std::int64_t dilation : {1, 2}) {
      problem.groups = groups;
      problem.h.dilation = problem.w.dilation = dilation;
      MeasuredCall call;
      const Status status = read_call(call, call_of(problem));
      ASSERT_TRUE(status.is_good()) << status.sentence();
      EXPECT_EQ(call.words, call_of(problem));
      const auto& read = call.what.problem.as<tw_conv2d_problem>();
      EXPECT_EQ(std::memcmp(&read.h, &problem.h, sizeof problem.h), 0);
      EXPECT_EQ(std::memcmp(&read.w, &problem.w, sizeof problem.w), 0);
      EXPECT_EQ(read.groups, groups);
      EXPECT_EQ(read.n, 32);
      EXPECT_EQ(read.c, 64);
      EXPECT_EQ(read.k, 128);
    }
  }
  problem.w.pad_high = 2;
  EXPECT_EQ(call_of(problem), "") << "a shape has one padding";
  problem.w.pad_high = 1;
  problem.direction = TW_BACKWARD_DATA;
  EXPECT_EQ(call_of(problem), "");
}

// The file has what the library asks for, whatever way a user says it.
TEST(Call, WordsAreTheUsualOnes) {
  MeasuredCall call;
  ASSERT_TRUE(read_call(call, " conv2d  bf16 1x7x7x64x64x3x3,1,1,1,1 ").is_good());
  EXPECT_EQ(call.words, "conv2d bf16 1x7x7x64x64x3x3,1,1");
  ASSERT_TRUE(read_call(call, "matmul fp16 064x8x8").is_good());
  EXPECT_EQ(call.words, "matmul fp16 64x8x8");
}

TEST(Call, WhatIsNotMeasuredIsRefused) {
  MeasuredCall call;
  EXPECT_EQ(read_call(call, "matmul 64x8x8").sentence(),
            "The call 'matmul 64x8x8' is not a family, a type and a shape, as in 'matmul bf16 "
            "64x4096x1024'.");
  EXPECT_EQ(read_call(call, "grouped bf16 8x8x8x8").sentence(),
            "The call 'grouped bf16 8x8x8x8' is of no family that is tuned: matmul, blockwise, "
            "conv2d are.");
  for (const char* words : {"matmul s8 8x8x8", "blockwise bf16 8x8x8",
                            "conv2d e4m3 1x7x7x64x64x3x3", "matmul bf61 8x8x8"}) {
    EXPECT_NE(read_call(call, words).sentence().find(" is not measured; "), std::string::npos)
        << words;
  }
  EXPECT_FALSE(read_call(call, "matmul bf16 8x8").is_good());
  EXPECT_FALSE(read_call(call, "conv2d bf16 8x8x8").is_good());
}

TEST(Call, ALogIsReadOnce) {
  const std::string path = testing::TempDir() + "calls.txt";
  std::ofstream(path) << "a program's own line\n"
                         "tw: call: matmul bf16 64x4096x1024\n"
                         "./tw run matmul --arch sm90a --batch 2\n"
                         "tw: call: conv2d bf16 1x7x7x64x64x3x3,1,1\n"
                         "tw: call: matmul bf16 64x4096x1024\n";
  CallLog log;
  ASSERT_TRUE(read_call_log(log, path).is_good());
  EXPECT_EQ(log.calls, (std::vector<std::string>{"matmul bf16 64x4096x1024",
                                                 "conv2d bf16 1x7x7x64x64x3x3,1,1"}));
  EXPECT_EQ(log.others, 1);
  CallLog none;
  std::ofstream(path) << "nothing\n";
  EXPECT_EQ(read_call_log(none, path).sentence(),
            "The log '" + path +
                "' has no call that can be tuned: TW_LOG=calls prints lines that "
                "begin with 'tw: call: '.");
  EXPECT_EQ(read_call_log(none, "/nowhere").sentence(), "The log '/nowhere' cannot be read.");
}

}  // namespace
}  // namespace tw::bench::tests
