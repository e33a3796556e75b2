// A printed `./tw run` line is read back as the very case it was printed for.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "src/cli/described.h"
#include "src/families/matmul.h"
#include "src/verify/product.h"
#include "src/verify/trials.h"
#include "tests/families/seed.h"

namespace tw::cli {
namespace {

std::string usual_sentence(const std::string&, const std::string&, const std::string& usual) {
  return usual;
}

// The case that a line states, and how the line was refused.
Case read_back(const std::string& line, Verdict& verdict) {
  std::stringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  words.erase(words.begin(), words.begin() + 2);  // ./tw run
  std::reverse(words.begin(), words.end());       // CLI11 takes them from the back
  CLI::App app;
  Case found = usual_case(matmul_trial, matmul_trial.instances()[0]);
  add_described(
      app, {all_trials(), usual_sentence},
      [&](const Case& made, const vgpu::Options&, Verdict&) { found = made; }, verdict);
  app.parse(words);
  return found;
}

// Types of parts that are not there are not printed, nor is how a problem was made.
void forget_what_no_line_says(Case& of) {
  of.largest = 320;
  const ProductField* const product = of.trial->description->product;
  if (product == nullptr) return;
  tw_epilogue& given = product->epilogue_of(of.problem.data());
  EpilogueShape epilogue = shape_of(given);
  if (epilogue.beta == 0.0f) epilogue.source_type = ElementType::Bf16;
  if (!epilogue.column_bias && !epilogue.row_bias) epilogue.bias_type = ElementType::Bf16;
  if (!epilogue.auxiliary) epilogue.auxiliary_type = ElementType::Bf16;
  if (epilogue.activation != Activation::Clamp) epilogue.clamp_low = epilogue.clamp_high = 0.0f;
  set_epilogue(given, epilogue);
}

// Also a family that has no kernel for the usual target.
TEST(Request, EveryFamilyRunsWithoutOptions) {
  for (const Trial* trial : all_trials()) {
    Verdict verdict;
    const Case made = read_back(std::string("./tw run ") + trial->description->name, verdict);
    EXPECT_EQ(verdict.status, 0) << trial->description->name;
    EXPECT_EQ(made.trial, trial) << trial->description->name;
  }
}

TEST(Request, RunLinesAreReadBackExactly) {
  const std::uint64_t seed = tests::base_seed();
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(seed));
  Random random(seed);
  for (const Trial* trial : all_trials()) {
    const std::span<const Instance> instances = trial->instances();
    for (std::size_t i = 0; i < 300; ++i) {
      Case made = random_case(*trial, instances[i % instances.size()], random, 3000);
      if (const ProductField* product = trial->description->product; product != nullptr) {
        Case divided = made;
        product->epilogue_of(divided.problem.data()).alpha /= 3.0f;  // a number with many digits
        // Sums that begin at C take no alpha but 1.
        if (Case served = divided; serves(served).is_good()) made = divided;
      }
      try_infinity(made, random);
      ASSERT_TRUE(made.settle().is_good());
      // Without outputs an instance takes any layout, and a line says only what is not usual.
      if (trial->description->product != nullptr && product_shape(made).outputs() == 0) continue;
      const std::string line = run_line(made);
      Verdict verdict;
      Case found = read_back(line, verdict);
      ASSERT_EQ(verdict.status, 0) << line;
      EXPECT_EQ(run_line(found), line);
      forget_what_no_line_says(made);
      forget_what_no_line_says(found);
      if (trial->description->product != nullptr) {
        EXPECT_EQ(product_shape(found), product_shape(made)) << line;
      }
      // Whole cases are not compared: what memory gives a problem, such as strides, is in no line.
      for (const IntegerField& number : trial->description->numbers) {
        EXPECT_EQ(number.get(found.problem.data()), number.get(made.problem.data()))
            << number.name << " of " << line;
      }
      EXPECT_EQ(found.lists, made.lists) << line;
      EXPECT_EQ(found.unaligned, made.unaligned) << line;
      EXPECT_EQ(found.unaligned_small, made.unaligned_small) << line;
      EXPECT_EQ(found.shared_b, made.shared_b) << line;
      EXPECT_EQ(found.fill, made.fill) << line;
      EXPECT_EQ(found.seed, made.seed) << line;
      EXPECT_EQ(found.instance, made.instance) << line;
      EXPECT_EQ(found.order, made.order) << line;
      EXPECT_EQ(found.infinite, made.infinite) << line;
    }
  }
}

// An extent of 1 lets memory be read along either side, whatever the instance is for.
TEST(Request, LinesSayWhichSideIsContiguous) {
  std::size_t turned = 0;
  for (const Instance& instance : matmul_trial.instances()) {
    for (const TensorField& tensor : matmul_trial.description->tensors) {
      if (!tensor.has_either_side()) continue;
      Case made = usual_case(matmul_trial, instance);
      MatmulFamily::Problem& problem = made.as<MatmulFamily::Problem>();
      problem.m = problem.n = 1;
      tw_matrix matrix = tensor.get(made.problem.data());
      matrix.column_stride = 1 - matrix.column_stride;
      tensor.set(made.problem.data(), matrix);
      if (!serves(made).is_good()) continue;
      ++turned;
      Verdict verdict;
      const Case found = read_back(run_line(made), verdict);
      EXPECT_EQ(verdict.status, 0) << run_line(made);
      EXPECT_EQ(run_line(found), run_line(made));
      EXPECT_EQ(product_shape(found), product_shape(made)) << run_line(made);
    }
  }
  EXPECT_GE(turned, 4u);
}

// What ran is told with its epilogue, and numbers as short as they can be given.
TEST(Request, ATitleTellsWhatIsNotUsual) {
  const auto title = [](const char* line) {
    Verdict verdict;
    const Case made = read_back(line, verdict);
    EXPECT_EQ(verdict.status, 0) << line;
    return title_of(made);
  };
  EXPECT_NE(title("./tw run matmul --epilogue bias,gelu").find(", --epilogue bias,gelu "),
            std::string::npos);
  EXPECT_EQ(title("./tw run matmul").find("--"), std::string::npos);
  EXPECT_EQ(title("./tw run rms_norm").find("epsilon"), std::string::npos);
  EXPECT_EQ(title("./tw run rms_norm --epsilon 1e-05").find("epsilon"), std::string::npos);
  EXPECT_NE(title("./tw run rms_norm --epsilon 0.1").find(" epsilon 0.1,"), std::string::npos);
}

// With every other default, each type of A is served.
TEST(Request, TheTypeOfDFollowsThatOfA) {
  const std::pair<const char*, ElementType> outputs[] = {{"bf16", ElementType::Bf16},
                                                         {"fp16", ElementType::Fp16},
                                                         {"tf32", ElementType::Fp32},
                                                         {"e4m3", ElementType::Bf16},
                                                         {"s8", ElementType::S32}};
  for (const auto& [a_type, d_type] : outputs) {
    Verdict verdict;
    const Case found = read_back(std::string("./tw run matmul --a-type ") + a_type, verdict);
    ASSERT_EQ(verdict.status, 0) << a_type;
    EXPECT_EQ(product_shape(found).d_type, d_type) << a_type;
    EXPECT_EQ(config_of(*found.instance).d_type, d_type) << a_type;
  }
}

}  // namespace
}  // namespace tw::cli
