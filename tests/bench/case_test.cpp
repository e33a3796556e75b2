#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "src/bench/harness/forms.h"
#include "tilewright/family/conv2d/problem.h"

namespace tw::bench {
extern const ShapeForm attention_form, blockwise_form, conv2d_form, quantise_form;
}

namespace tw::bench::tests {

namespace {

class InRepository : public testing::Test {
 protected:
  InRepository() { std::filesystem::current_path(TW_REPOSITORY); }
};
using Suites = InRepository;

std::string sentence_of(const std::string& text) {
  const std::string path = testing::TempDir() + "suite.json";
  std::ofstream(path) << text;
  Suite suite;
  return read_suite(suite, matmul_form, path).sentence();
}

}  // namespace

TEST_F(Suites, AreFoundByName) {
  for (const char* name : {"bf16", "fp8", "ragged"}) {
    Suite suite;
    const Status status = read_suite(suite, matmul_form, name);
    ASSERT_TRUE(status.is_good()) << status.sentence();
    EXPECT_TRUE(suite.file.ends_with(std::string("bench/suites/matmul-") + name + ".json"));
    EXPECT_GT(suite.shapes.size(), 5u);
  }
}

TEST_F(Suites, AreFoundByPath) {
  Suite suite;
  ASSERT_TRUE(read_suite(suite, matmul_form, "bench/suites/matmul-fp8.json").is_good());
  EXPECT_EQ(suite.type, "e4m3");
}

TEST_F(Suites, RaggedLinesBeginAligned) {
  std::vector<MeasuredCase> cases;
  std::string file;
  ASSERT_TRUE(read_cases(cases, file, matmul_form, "ragged", {}, {}).is_good());
  for (const MeasuredCase& one : cases) {
    const auto& problem = one.problem.as<tw_matmul_problem>();
    EXPECT_EQ(problem.a.row_stride % 8, 0);
    EXPECT_EQ(problem.b.column_stride, problem.a.row_stride);
    EXPECT_EQ(problem.d.row_stride % 8, 0);
    EXPECT_LT(problem.d.row_stride - problem.n, 8);
    EXPECT_GT(one.compared_to, 0);
    const MeasuredCase larger = rounded_up(one);
    EXPECT_GE(larger.shape.m, one.shape.m);
    EXPECT_EQ(larger.shape.n % one.compared_to, 0);
    EXPECT_EQ(larger.problem.as<tw_matmul_problem>().a.row_stride, larger.shape.k);
  }
}

TEST_F(Suites, RefuseWithASentence) {
  EXPECT_NE(sentence_of("nonsense").find("is not JSON with \"shapes\""), std::string::npos);
  EXPECT_NE(sentence_of("{\"shapes\": 3}").find("is not JSON with"), std::string::npos);
  EXPECT_NE(sentence_of("{\"shapes\": [{\"m\": 1}]}").find("without n: it is not of matmul"),
            std::string::npos);
  EXPECT_NE(sentence_of("{\"shapes\": [{\"m\": 1, \"n\": 0, \"k\": 3}]}").find("positive"),
            std::string::npos);
  EXPECT_NE(sentence_of("{\"pitch_align\": 0, \"shapes\": []}").find("pitch_align"),
            std::string::npos);
  // However much is wrong: the text of the entry would take the whole stack.
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_NE(sentence_of("{\"shapes\": [{\"m\": 1, \"n\": 1, \"k\": " + deep + "}]}")
                .find("Shape 1 of the suite"),
            std::string::npos);
  Suite suite;
  EXPECT_NE(read_suite(suite, matmul_form, "missing").sentence().find("suite 'missing'"),
            std::string::npos);
}

TEST_F(Suites, OfConvolutionsAreRead) {
  std::vector<MeasuredCase> cases;
  std::string file;
  ASSERT_TRUE(read_cases(cases, file, conv2d_form, "bf16", {}, {}).is_good());
  ASSERT_EQ(cases.size(), 17u);
  EXPECT_EQ(cases[12].shape.text, "32x56x56x128 to 128, 3x3 /2");
  EXPECT_EQ(shape_words(cases[12]), "32x56x56x128x128x3x3,2,1");
  cases.clear();
  ASSERT_TRUE(read_cases(cases, file, conv2d_form, "depthwise", {}, {}).is_good());
  for (const MeasuredCase& one : cases) {
    const auto& problem = one.problem.as<tw_conv2d_problem>();
    EXPECT_EQ(problem.groups, problem.c);
  }
  Suite suite;
  EXPECT_NE(read_suite(suite, conv2d_form, "bench/suites/matmul-bf16.json")
                .sentence()
                .find("has a shape without h: it is not of conv2d"),
            std::string::npos);
}

// A family that is measured in one type takes the shapes of others.
TEST_F(Suites, ServeFamiliesOfOtherTypes) {
  std::vector<MeasuredCase> cases;
  std::string file;
  ASSERT_TRUE(read_cases(cases, file, blockwise_form, "bf16", {}, {}).is_good());
  EXPECT_EQ(cases.front().shape.type, ElementType::E4m3);
  CaseRequest request;
  request.type = "bf16";
  EXPECT_EQ(read_cases(cases, file, blockwise_form, "bf16", {}, request).sentence(),
            "The type 'bf16' of blockwise is not measured; e4m3 is.");
}

// Nothing is measured here: a set that cannot be read would end the run that it is for.
TEST_F(Suites, HeldOutShapesKeepTheirDescriptions) {
  const std::pair<const char*, const char*> sets[] = {{"matmul", "bf16"},
                                                      {"matmul", "e4m3"},
                                                      {"blockwise", "blockwise"},
                                                      {"grouped", "grouped"},
                                                      {"conv2d", "conv2d"}};
  for (const auto& [family, set] : sets) {
    std::vector<MeasuredCase> cases;
    std::string file;
    const std::string path = fmt::format("bench/held_out/{}.json", set);
    const Status status = read_cases(cases, file, *form_of(family), path, {}, {});
    EXPECT_TRUE(status.is_good()) << set << ": " << status.sentence();
    EXPECT_EQ(cases.size(), 60u) << set;
    const std::string type =
        std::string(set) == "e4m3" || family == std::string("blockwise") ? "e4m3" : "bf16";
    for (const MeasuredCase& one : cases) EXPECT_EQ(name_of(one.shape.type), type) << set;
  }
}

TEST(Shapes, AreOfTheirForm) {
  std::vector<std::int64_t> numbers;
  EXPECT_TRUE(read_shape(numbers, matmul_form, "16x4096x128").is_good());
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{16, 4096, 128}));
  for (const char* text :
       {"", "12x", "1x2", "1x2x3x4", "0x1x1", "-1x1x1", "1x1x1 ", "99999999999999999999x1x1"}) {
    EXPECT_EQ(
        read_shape(numbers, matmul_form, text).sentence(),
        std::string("The shape '") + text + "' is not of the form MxNxK with positive numbers.");
  }
  EXPECT_EQ(conv2d_form.text(), "NxHxWxCxKxRxS[,STRIDE[,PAD[,DILATION[,GROUPS]]]]");
  for (const char* text : {"", "1x2x3", "1x2x3x4x5x6x7x8", "1x1x1x8x8x1x0", "1x4x4x8x8x3x3,0",
                           "1x4x4x8x8x3x3,1,-1", "1x4x4x8x8x3x3,1,1,1,1,1", "1x4x4x8x8x3x3 ",
                           "1x4x4x8x8x3x3,", "99999999999999999999x4x4x8x8x3x3"}) {
    EXPECT_FALSE(read_shape(numbers, conv2d_form, text).is_good()) << text;
  }
}

MeasuredCase made_of(const ShapeForm& form, const char* text) {
  std::vector<std::int64_t> numbers;
  MeasuredCase made;
  EXPECT_TRUE(read_shape(numbers, form, text).is_good());
  const Status status = make_case(made, form, numbers, form.types.front(), {});
  EXPECT_TRUE(status.is_good()) << status.sentence();
  return made;
}

TEST(Cases, CountFlopsAndBytes) {
  const Shape shape = made_of(conv2d_form, "2x9x11x16x24x3x5,2,1,1").shape;
  EXPECT_EQ(shape.flops, 2.0 * 50 * 24 * 15 * 16);
  EXPECT_EQ(shape.bytes, 2.0 * (2 * 9 * 11 * 16 + 24 * 15 * 16 + 50 * 24));
  EXPECT_EQ(shape.text, "2x9x11x16 to 24, 3x5 /2");
  const Shape depthwise = made_of(conv2d_form, "2x9x11x16x32x3x5,2,1,1,16").shape;
  EXPECT_EQ(depthwise.flops, 2.0 * 50 * 32 * 15);
  EXPECT_EQ(depthwise.bytes, 2.0 * (2 * 9 * 11 * 16 + 32 * 15 + 50 * 32));
  EXPECT_EQ(depthwise.text, "2x9x11x16 to 32, 3x5 /2 in 16");
  const Shape product = made_of(matmul_form, "16x40x24").shape;
  EXPECT_EQ(product.flops, 2.0 * 16 * 40 * 24);
  EXPECT_EQ(product.bytes, 2.0 * (16 * 24 + 40 * 24 + 16 * 40));
  EXPECT_TRUE(product.is_decode);
  const Shape scaled = made_of(blockwise_form, "200x300x500").shape;
  EXPECT_EQ(scaled.bytes, 200.0 * 500 + 300 * 500 + 4 * (200 * 4 + 3 * 4) + 2 * 200 * 300);
  const Shape quantised = made_of(quantise_form, "200x500,128").shape;
  EXPECT_EQ(quantised.bytes, 3.0 * 200 * 500 + 4 * 2 * 4);
  EXPECT_EQ(quantised.text, "200 x 500, 128");
  const Shape whole = made_of(attention_form, "2x12x300x64").shape;
  EXPECT_EQ(whole.flops, 4.0 * 2 * 12 * 300 * 300 * 64);
  EXPECT_EQ(whole.bytes, 2.0 * 4 * 2 * 300 * 12 * 64);
  EXPECT_EQ(whole.text, "2x12/12 x 300 x 64");
  const Shape causal = made_of(attention_form, "2x12x300x64,1,4,1000,192").shape;
  EXPECT_EQ(causal.flops, 4.0 * 2 * 12 * 300 * 850 * 64);
  EXPECT_EQ(causal.bytes, 2.0 * 2 * 64 * 2 * (300 * 12 + 1000 * 4));
  EXPECT_EQ(causal.text, "2x12/4 x 300 x 64, 1000 keys, causal, sums of 192");
  // 200 queries see no key, the last 100 see 50 of them on average.
  const Shape few_keys = made_of(attention_form, "2x12x300x64,1,4,100").shape;
  EXPECT_DOUBLE_EQ(few_keys.flops, 4.0 * 2 * 12 * 100 * 50 * 64);
}

TEST(Cases, KeepTheirDescription) {
  MeasuredCase made;
  EXPECT_EQ(make_case(made, conv2d_form, {1, 4, 4, 8, 8, 3, 3, 1, 1, 1, 3}, ElementType::Bf16, {})
                .sentence(),
            "c = 8 must be a multiple of groups = 3.");
}

}  // namespace tw::bench::tests
