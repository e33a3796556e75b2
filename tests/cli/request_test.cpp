// A printed `./tw run` line is read back as the very task it was printed for.
#include <gtest/gtest.h>

#include <sstream>

#include "src/cli/matmul_request.h"
#include "tests/families/problems.h"

namespace tw::cli {
namespace {

Result<MatmulTask> read_back(const std::string& line) {
  std::stringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  words.erase(words.begin(), words.begin() + 2);  // ./tw run
  std::reverse(words.begin(), words.end());       // as CLI11 wants them
  MatmulRequest request;
  CLI::App app;
  request.add_options(app);
  app.parse(words);
  return request.resolve(Tracing::Off);
}

TEST(Request, RunLinesAreReadBackExactly) {
  std::printf("seed %llu (TW_SEED changes it)\n",
              static_cast<unsigned long long>(tests::base_seed()));
  for (MatmulTask task : tests::random_problems(1000, 3000, tests::base_seed())) {
    if (task.instance->config.tracing == Tracing::On) continue;
    task.shape.epilogue.alpha /= 3.0f;  // a number with many digits
    const std::string line = run_line(task);
    const Result<MatmulTask> result = read_back(line);
    ASSERT_TRUE(result.status.is_good()) << line << "\n" << result.status.sentence();
    const MatmulTask& found = *result.value;
    EXPECT_EQ(run_line(found), line);
    EXPECT_EQ(found.instance, task.instance) << line;
    EXPECT_EQ(found.fill, task.fill) << line;
    EXPECT_EQ(found.seed, task.seed) << line;
    EXPECT_EQ(found.order.group, task.order.group) << line;
    EXPECT_EQ(found.order.raster, task.order.raster) << line;
    EXPECT_EQ(found.order.split_k, task.order.split_k) << line;
    EXPECT_EQ(found.order.stream_k, task.order.stream_k) << line;
    // Types of parts that are not there are not printed.
    EpilogueShape& epilogue = task.shape.epilogue;
    if (epilogue.beta == 0.0f) epilogue.source_type = ElementType::Bf16;
    if (!epilogue.column_bias && !epilogue.row_bias) epilogue.bias_type = ElementType::Bf16;
    if (!epilogue.auxiliary) epilogue.auxiliary_type = ElementType::Bf16;
    EXPECT_EQ(found.shape, task.shape) << line;
  }
}

// With every other default, each type of A is served.
TEST(Request, TheTypeOfDFollowsThatOfA) {
  const std::pair<const char*, ElementType> outputs[] = {{"bf16", ElementType::Bf16},
                                                         {"fp16", ElementType::Fp16},
                                                         {"tf32", ElementType::Fp32},
                                                         {"e4m3", ElementType::Bf16},
                                                         {"s8", ElementType::S32}};
  for (const auto& [a_type, d_type] : outputs) {
    const Result<MatmulTask> result = read_back(std::string("./tw run matmul --a-type ") + a_type);
    ASSERT_TRUE(result.status.is_good()) << a_type << ": " << result.status.sentence();
    EXPECT_EQ(result.value->shape.d_type, d_type) << a_type;
    EXPECT_EQ(result.value->instance->config.d_type, d_type) << a_type;
  }
}

}  // namespace
}  // namespace tw::cli
