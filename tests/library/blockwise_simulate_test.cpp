// The library's FP8 products with scales of blocks on the virtual GPU, held against the definition.
#include <gtest/gtest.h>

#include "tests/library/blockwise_problem.h"
#include "tilewright/blockwise.h"

namespace tw::tests {
namespace {

BlockwiseShape small() {
  BlockwiseShape shape;
  shape.matmul.m = 70;
  shape.matmul.n = 200;
  shape.matmul.k = 500;
  shape.matmul.a_type = shape.matmul.b_type = ElementType::E4m3;
  return shape;
}

void expect_right(const BlockwiseShape& shape, const tw_blockwise_options* options = nullptr) {
  BlockwiseData data = make_blockwise_data(shape, Fill::Integers, 3);
  const tw_blockwise_problem problem = c_problem_on_host(data, shape);
  ASSERT_EQ(tw_blockwise_simulate(&problem, options), TW_OK) << tw_message();
  EXPECT_STREQ(tw_message(), "");
  const Comparison comparison = compare(data.matmul, direct_product(data, shape));
  EXPECT_TRUE(comparison.good() && comparison.exact) << comparison.complaint();
}

TEST(SimulateBlockwise, EveryTargetAndEveryLayoutOfScales) {
  tw_blockwise_options options;
  tw_blockwise_init(nullptr, &options);
  for (const char* target : {"sm80", "sm90a", "sm100a"}) {
    options.target = target;
    for (const Major major : {Major::K, Major::MN}) {
      BlockwiseShape shape = small();
      shape.a_scales = major;
      shape.b_scales = major == Major::K ? Major::MN : Major::K;
      shape.unaligned_scales = major == Major::MN;
      expect_right(shape, &options);
    }
  }
}

TEST(SimulateBlockwise, AScaleForEveryRowOfB) {
  BlockwiseShape shape = small();
  shape.matmul.a_type = ElementType::E5m2;
  shape.matmul.d_type = ElementType::Fp32;
  shape.b_scale_rows = 1;
  expect_right(shape);
}

TEST(SimulateBlockwise, FewRowsOneRowOneBlockAndBatches) {
  BlockwiseShape shape = small();
  shape.matmul.m = 3;
  shape.matmul.k = 1000;
  expect_right(shape);
  shape.matmul.m = shape.matmul.n = 1;
  expect_right(shape);
  shape.matmul.k = 100;
  expect_right(shape);
  shape = small();
  shape.matmul.batch = 2;
  expect_right(shape);
  shape.matmul.shared_b = true;
  expect_right(shape);
}

TEST(SimulateBlockwise, EpiloguesAndEmptyProblems) {
  BlockwiseShape shape = small();
  shape.matmul.epilogue.column_bias = true;
  shape.matmul.epilogue.beta = 1.0f;
  shape.matmul.epilogue.activation = Activation::Relu;
  expect_right(shape);
  shape.matmul.k = 0;
  expect_right(shape);
  shape.matmul.m = 0;
  expect_right(shape);
}

TEST(SimulateBlockwise, FromCpp) {
  const BlockwiseShape shape = small();
  BlockwiseData data = make_blockwise_data(shape, Fill::Position, 5);
  const auto view = [](HostMatrix& matrix) {
    return MatrixView{matrix.data(),  matrix.rows,
                      matrix.columns, static_cast<tw_type>(matrix.type),
                      matrix.pitch,   1};
  };
  MatmulData& product = data.matmul;
  const auto call = [&](const MatrixView& b_scales) {
    matmul_blockwise_on_virtual_gpu(view(product.a), view(product.b).transposed(),
                                    view(data.a_scales), b_scales, view(product.d));
  };
  call(view(data.b_scales));
  const Comparison comparison = compare(data.matmul, direct_product(data, shape));
  EXPECT_TRUE(comparison.good()) << comparison.complaint();
  try {
    call(view(data.a_scales));
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
  const BlockwiseShape shape = small();
  BlockwiseData data = make_blockwise_data(shape, Fill::Integers, 1);
  const auto refusal = [&](tw_status status, const auto& spoil) {
    tw_blockwise_problem problem = c_problem_on_host(data, shape);
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
            "The scales of A are bf16, but must be fp32.");
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.b_scales.type = static_cast<tw_type>(9); }),
            "The type of the scales of B is 9, but a tw_type is between 0 and 7.");
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
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.b_scales.row_stride = 1 << 30; }),
            "The scales of B, with a pitch of 1073741824 elements, must reach over less than 2^31 "
            "elements.");
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
  EXPECT_EQ(refusal(TW_UNSUPPORTED, [](P&, O& o) { o.instance = "blockwise_rows_128x128"; }),
            "No compiled kernel computes this product with scales of blocks on sm90a. The nearest, "
            "blockwise_rows_128x128: The scales of B are 2 x 4, but must be 200 x 4: one for each "
            "row and each 128 of k.");
  EXPECT_EQ(refusal(TW_UNSUPPORTED, [](P& p, O&) { p.matmul.d.type = TW_S32; })
                .find("No compiled kernel computes this product with scales of blocks on sm90a. "
                      "The nearest, "),
            0u);
  EXPECT_EQ(tw_blockwise_simulate(nullptr, nullptr), TW_INVALID);
  EXPECT_STREQ(tw_message(), "The problem is null.");
}

}  // namespace
}  // namespace tw::tests
