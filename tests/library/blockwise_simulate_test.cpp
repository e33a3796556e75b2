// The library's FP8 products with scales of blocks on the virtual GPU, held against the definition.
#include <gtest/gtest.h>

#include "src/families/blockwise.h"
#include "src/verify/product.h"
#include "tests/library/of_family.h"
#include "tilewright.hpp"

namespace tw::tests {
namespace {

using Problem = tw_blockwise_problem;

// A case of the kind that an instance computes.
Case case_like(const std::string& instance, std::int64_t m = 70, std::int64_t n = 200,
               std::int64_t k = 500) {
  for (const Instance& one : blockwise_instances()) {
    if (one.name != instance) continue;
    Case made = usual_case(blockwise_trial, one);
    tw_matmul_problem& matmul = made.as<Problem>().matmul;
    matmul.m = m;
    matmul.n = n;
    matmul.k = k;
    made.seed = 3;
    return made;
  }
  throw std::runtime_error("There is no instance " + instance);
}
Case small() { return case_like("blockwise_128x96"); }

void expect_right(const Case& made, const tw_blockwise_options* options = nullptr) {
  const Verified verified(made);
  HostProblem ran = verified.given();
  const auto placed = of_family<Problem>(blockwise_trial, ran.placed());
  ASSERT_EQ(tw_blockwise_simulate(&placed, options), TW_OK) << tw_message();
  EXPECT_STREQ(tw_message(), "");
  const Comparison comparison = verified.compare(ran);
  EXPECT_TRUE(comparison.good() && comparison.exact) << comparison.complaint();
}

TEST(SimulateBlockwise, EveryTargetAndEveryLayoutOfScales) {
  tw_blockwise_options options;
  tw_blockwise_init(nullptr, &options);
  for (const char* target : {"sm80", "sm90a", "sm100a"}) {
    options.target = target;
    for (const bool by_rows : {true, false}) {
      Case made = small();
      made.as<Problem>().a_scales.k_stride = by_rows ? 1 : 0;
      made.as<Problem>().b_scales.k_stride = by_rows ? 0 : 1;
      if (!by_rows) {
        made.unaligned_small = 1u << BlockwiseFamily::a_scales | 1u << BlockwiseFamily::b_scales;
      }
      expect_right(made, &options);
    }
  }
}

TEST(SimulateBlockwise, AScaleForEveryRowOfB) { expect_right(case_like("blockwise_rows_128x128")); }

TEST(SimulateBlockwise, FewRowsOneRowOneBlockAndBatches) {
  expect_right(case_like("blockwise_128x96", 3, 200, 1000));
  expect_right(case_like("blockwise_128x96", 1, 1, 1000));
  expect_right(case_like("blockwise_128x96", 1, 1, 100));
  Case made = small();
  made.as<Problem>().matmul.batch = 2;
  expect_right(made);
  made.shared_b = true;
  expect_right(made);
}

TEST(SimulateBlockwise, EpiloguesAndEmptyProblems) {
  Case made = small();
  EpilogueShape epilogue;
  epilogue.column_bias = true;
  epilogue.beta = 1.0f;
  epilogue.activation = Activation::Relu;
  set_epilogue(made.as<Problem>().matmul.epilogue, epilogue);
  expect_right(made);
  made.as<Problem>().matmul.k = 0;
  expect_right(made);
  made.as<Problem>().matmul.m = 0;
  expect_right(made);
}

TEST(SimulateBlockwise, FromCpp) {
  Case made = small();
  made.fill = Fill::Position;
  const Verified verified(made);
  HostProblem ran = verified.given();
  const AnyProblem placed = ran.placed();
  const auto view = [&](unsigned tensor) {
    const HostMatrix& matrix = ran.tensor(tensor);
    const tw_matrix given = ran.description().tensors[tensor].get(placed.data());
    return MatrixView{given.data, matrix.rows,      matrix.columns,
                      given.type, given.row_stride, given.column_stride};
  };
  auto problem = initial<Problem>();
  problem.matmul.m = 70, problem.matmul.n = 200, problem.matmul.k = 500;
  problem.matmul.a = view(BlockwiseFamily::a);
  problem.matmul.b = view(BlockwiseFamily::b);
  problem.matmul.d = view(BlockwiseFamily::d);
  problem.a_scales = view(BlockwiseFamily::a_scales);
  problem.b_scales = view(BlockwiseFamily::b_scales);
  simulate(problem);
  const Comparison comparison = verified.compare(ran);
  EXPECT_TRUE(comparison.good()) << comparison.complaint();
  try {
    problem.b_scales = problem.a_scales;
    simulate(problem);
    FAIL() << "Nothing was thrown.";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), TW_INVALID);
    EXPECT_STREQ(error.what(),
                 "The scales of B are 70 x 4, but must be 2 x 4: one for each 128 rows and each "
                 "128 of k, or have a row for each of B's 200.");
  }
}

// What is refused: the status and the sentence, which names what was expected.
TEST(SimulateBlockwise, RefusesWithASentence) {
  HostProblem data = Verified(small()).given();
  const auto placed = of_family<Problem>(blockwise_trial, data.placed());
  const auto refusal = [&](tw_status status, const auto& spoil) {
    Problem problem = placed;
    tw_blockwise_options options;
    tw_blockwise_init(nullptr, &options);
    spoil(problem, options);
    EXPECT_EQ(tw_blockwise_simulate(&problem, &options), status);
    return std::string(tw_message());
  };
  using P = tw_blockwise_problem;
  using O = tw_blockwise_options;
  // Shape.
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.a_scales.rows = 1; }),
            "The scales of A are 1 x 4, but must be 70 x 4: one for each row and each 128 of k.");
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.b_scales.rows = 3; }),
            "The scales of B are 3 x 4, but must be 2 x 4: one for each 128 rows and each 128 of "
            "k, or have a row for each of B's 200.");
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.b_scales.k_blocks = 5; }),
            "The scales of B are 2 x 5, but must be 2 x 4: one for each 128 rows and each 128 of "
            "k, or have a row for each of B's 200.");
  // Type.
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.a_scales.type = TW_BF16; }),
            "The scales of A have type bf16, but must be fp32.");
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.b_scales.type = static_cast<tw_type>(29); }),
            "The type of the scales of B is 29, but a tw_type is between 0 and 10.");
  // Strides.
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.a_scales.k_stride = 2; }),
            "The scales of A have a row_stride of 4 and a k_stride of 2, but one of them must be "
            "1.");
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.a_scales.row_stride = 3; }),
            "The pitch of the scales of A is 3 elements, but its lines have 4.");
  EXPECT_EQ(refusal(TW_INVALID,
                    [](P& p, O&) {
                      p.a_scales.row_stride = 1;
                      p.a_scales.k_stride = 69;
                    }),
            "The pitch of the scales of A is 69 elements, but its lines have 70.");
  EXPECT_EQ(
      refusal(TW_INVALID, [](P& p, O&) { p.b_scales.row_stride = 1 << 30; }),
      "The scales of B, with a pitch of 1073741824 elements and 0 from matrix to matrix, must "
      "reach over less than 2147483648 elements.");
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.b_scales.row_stride = std::int64_t{1} << 60; })
                .find("The memory of the scales of B spans"),
            0u);
  // Alignment.
  EXPECT_EQ(
      refusal(TW_INVALID,
              [](P& p, O&) { p.a_scales.data = static_cast<const char*>(p.a_scales.data) + 2; }),
      "The address of the scales of A is not a multiple of 4 bytes, its element's size.");
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.b_scales.data = nullptr; }),
            "The address of the scales of B is null.");
  // The rest.
  EXPECT_NE(refusal(TW_INVALID, [](P& p, O&) { p.size = 8; }).find("tw_blockwise_init"),
            std::string::npos);
  EXPECT_NE(refusal(TW_INVALID, [](P& p, O&) { p.matmul.size = 8; }).find("tw_matmul_init"),
            std::string::npos);
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.matmul.m = -1; }),
            "m = -1 must be at least 0 and below 2^31 - 256.");
  EXPECT_EQ(refusal(TW_INVALID, [](P&, O& o) { o.instance = "zebra"; }),
            "There is no instance 'zebra' of blockwise; ./tw list shows those that there are.");
  // Types come before scales.
  EXPECT_EQ(refusal(TW_UNSUPPORTED, [](P&, O& o) { o.instance = "blockwise_rows_128x128"; }),
            "No compiled kernel computes this product with scales of blocks on sm90a. The nearest, "
            "blockwise_rows_128x128: A has type e4m3; this kernel multiplies e5m2.");
  EXPECT_EQ(refusal(TW_UNSUPPORTED, [](P&, O& o) { o.instance = "blockwise_rows_128x128_2x1"; }),
            "No compiled kernel computes this product with scales of blocks on sm90a. The nearest, "
            "blockwise_rows_128x128_2x1: The scales of B are 2 x 4, but must be 200 x 4: one for "
            "each row and each 128 of k.");
  EXPECT_EQ(refusal(TW_UNSUPPORTED, [](P& p, O&) { p.matmul.d.type = TW_FP16; })
                .find("No compiled kernel computes this product with scales of blocks on sm90a. "
                      "The nearest, "),
            0u);
  EXPECT_EQ(tw_blockwise_simulate(nullptr, nullptr), TW_INVALID);
  EXPECT_STREQ(tw_message(), "The problem is null.");
}

}  // namespace
}  // namespace tw::tests
