#include "src/bench/suite.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

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
  return read_suite(suite, "matmul", path).sentence();
}

}  // namespace

TEST_F(Suites, AreFoundByName) {
  for (const char* name : {"bf16", "fp8", "ragged"}) {
    Suite suite;
    const Status status = read_suite(suite, "matmul", name);
    ASSERT_TRUE(status.is_good()) << status.sentence();
    EXPECT_TRUE(suite.file.ends_with(std::string("bench/suites/matmul-") + name + ".json"));
    EXPECT_GT(suite.shapes.size(), 5u);
  }
}

TEST_F(Suites, AreFoundByPath) {
  Suite suite;
  ASSERT_TRUE(read_suite(suite, "matmul", "bench/suites/matmul-fp8.json").is_good());
  EXPECT_EQ(suite.type, "e4m3");
}

TEST_F(Suites, RaggedLinesBeginAligned) {
  Suite suite;
  ASSERT_TRUE(read_suite(suite, "matmul", "ragged").is_good());
  for (const MatmulCase& shape : suite.shapes) {
    EXPECT_EQ(shape.k_pitch() % 8, 0);
    EXPECT_EQ(shape.n_pitch() % 8, 0);
    EXPECT_LT(shape.n_pitch() - shape.n, 8);
    EXPECT_GT(shape.compared_to, 0);
    EXPECT_GE(shape.rounded_up().m, shape.m);
  }
}

TEST_F(Suites, RefuseWithASentence) {
  EXPECT_NE(sentence_of("nonsense").find("is not JSON with \"shapes\""), std::string::npos);
  EXPECT_NE(sentence_of("{\"shapes\": 3}").find("is not JSON with"), std::string::npos);
  EXPECT_NE(sentence_of("{\"shapes\": [{\"m\": 1}]}").find("without m, n and k"),
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
  EXPECT_NE(read_suite(suite, "matmul", "missing").sentence().find("suite 'missing'"),
            std::string::npos);
}

TEST(Shapes, AreThreePositiveNumbers) {
  MatmulCase shape;
  EXPECT_TRUE(read_shape(shape, "16x4096x128").is_good());
  EXPECT_EQ(shape.text(), "16 x 4096 x 128");
  for (const char* text :
       {"", "12x", "1x2", "1x2x3x4", "0x1x1", "-1x1x1", "1x1x1 ", "99999999999999999999x1x1"}) {
    EXPECT_FALSE(read_shape(shape, text).is_good()) << text;
  }
}

}  // namespace tw::bench::tests
