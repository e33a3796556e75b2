// The library's products in groups on the virtual GPU, held against the definition.
#include <gtest/gtest.h>

#include "tests/library/grouped_problem.h"
#include "tilewright/grouped.h"

namespace tw::tests {
namespace {

// Of the kind that an instance computes: rows as they lie, by an index, or with scales of blocks.
GroupedShape shape_like(const char* instance, std::int64_t capacity = 0) {
  for (const GroupedInstance& one : grouped_instances()) {
    if (std::string(one.name) != instance) continue;
    GroupedShape shape = shape_for(one, {70, 0, 1, 130, 5}, capacity > 0 ? 0 : 3, capacity);
    shape.matmul.n = 72;
    shape.matmul.k = 304;
    return shape;
  }
  throw std::runtime_error(std::string("There is no instance ") + instance);
}

void expect_right(const GroupedShape& shape, const tw_grouped_options* options = nullptr) {
  GroupedData data = make_grouped_data(shape, Fill::Integers, 3);
  const tw_grouped_problem problem = c_problem_on_host(data, shape);
  ASSERT_EQ(tw_grouped_simulate(&problem, options), TW_OK) << tw_message();
  judge_other_rows(data, shape);
  const Comparison comparison = compare(data.matmul, direct_product(data, shape));
  EXPECT_TRUE(comparison.good() && comparison.exact) << comparison.complaint();
}

TEST(SimulateGrouped, EveryTargetAndKind) {
  tw_grouped_options options;
  tw_grouped_init(nullptr, &options);
  for (const auto& [target, word] :
       {std::pair("sm80", "ampere"), {"sm90a", "128x256"}, {"sm100a", "blackwell"}}) {
    options.target = target;
    for (const char* kind : {"grouped_", "gather_"}) {
      expect_right(shape_like((std::string(kind) + word).c_str()), &options);
    }
    GroupedShape shape = shape_like("grouped_fp8_ampere");
    expect_right(shape, &options);
    shape.column_scales = true;
    expect_right(shape, &options);
  }
  GroupedShape shape = shape_like("gather_fp8_128x128");
  expect_right(shape);
  shape.column_scales = true;
  expect_right(shape);
}

TEST(SimulateGrouped, CapacitiesEpiloguesAndEmptyProblems) {
  GroupedShape shape = shape_like("grouped_64x128", 130);
  expect_right(shape);
  shape.matmul.epilogue.column_bias = shape.matmul.epilogue.row_scale = true;
  shape.matmul.epilogue.beta = 1.0f;
  expect_right(shape);
  shape.matmul.k = 0;
  expect_right(shape);
  shape = shape_like("grouped_64x128");
  shape.resize({}, 0);
  expect_right(shape);
  shape.resize({1}, 0);
  expect_right(shape);
}

TEST(SimulateGrouped, FromCpp) {
  const auto view = [](HostMatrix& matrix) {
    return MatrixView{matrix.data(),  matrix.rows,
                      matrix.columns, static_cast<tw_type>(matrix.type),
                      matrix.pitch,   1};
  };
  for (const char* like : {"grouped_64x128", "gather_128x256"}) {
    const GroupedShape shape = shape_like(like);
    GroupedData data = make_grouped_data(shape, Fill::Position, 5);
    MatmulData& product = data.matmul;
    const MatrixView a = view(product.a), d = view(product.d);
    const MatrixView b =
        view(product.b).transposed().batched(shape.matmul.batch, product.b.batch_pitch);
    const auto* rows = reinterpret_cast<const std::int32_t*>(data.rows.data());
    const auto* index = reinterpret_cast<const std::int32_t*>(data.index.data());
    matmul_grouped_on_virtual_gpu(shape.a_rows > 0 ? gathered_problem(a, index, b, rows, d)
                                                   : grouped_problem(a, b, rows, d));
    judge_other_rows(data, shape);
    const Comparison comparison = compare(product, direct_product(data, shape));
    EXPECT_TRUE(comparison.good()) << comparison.complaint();
  }
}

// What is refused: the status and the sentence.
TEST(SimulateGrouped, RefusesWithASentence) {
  const auto refusal = [&](tw_status status, const char* like, const auto& spoil) {
    const GroupedShape shape = shape_like(like);
    GroupedData data = make_grouped_data(shape, Fill::Integers, 1);
    tw_grouped_problem problem = c_problem_on_host(data, shape);
    spoil(problem);
    EXPECT_EQ(tw_grouped_simulate(&problem, nullptr), status);
    return std::string(tw_message());
  };
  using P = tw_grouped_problem;
  const char* plain = "grouped_64x128";
  const char* scaled = "grouped_fp8_64x128";
  EXPECT_EQ(refusal(TW_INVALID, plain, [](P& p) { p.rows = nullptr; }),
            "The address of the groups' rows is null.");
  EXPECT_EQ(refusal(TW_INVALID, plain, [](P& p) { p.capacity = 51; }),
            "m is 209, but must be the capacity, 51 rows, times the number of groups, 5.");
  EXPECT_EQ(refusal(TW_INVALID, plain, [](P& p) { p.matmul.batch = -1; }),
            "batch = -1 must be at least 0 and below 2^31 - 256.");
  EXPECT_EQ(refusal(TW_INVALID, plain, [](P& p) { p.matmul.b.data = nullptr; }),
            "The address of B is null.");
  EXPECT_EQ(refusal(TW_INVALID, "gather_128x256", [](P& p) { p.a_rows = 0; }),
            "Rows are gathered from -1 rows of A, but must be from at least 1 and below 2^31.");
  EXPECT_EQ(refusal(TW_INVALID, scaled, [](P& p) { p.a_scales.rows = 9; }),
            "The scales of A are 9 x 3, but must be 209 x 3: one for each row and each 128 of k.");
  EXPECT_EQ(
      refusal(TW_INVALID, "gather_fp8_128x128", [](P& p) { p.a_scales.rows = 209; }),
      "The scales of A are 209 x 3, but must be 100 x 3: one for each row and each 128 of k.");
  EXPECT_EQ(refusal(TW_INVALID, scaled, [](P& p) { p.b_scales.type = TW_BF16; }),
            "The scales of B are bf16, but must be fp32.");
  EXPECT_EQ(refusal(TW_INVALID, scaled, [](P& p) { p.a_scales.k_stride = 2; }),
            "The scales of A have a row_stride of 4 and a k_stride of 2, but one of them must be "
            "1.");
  EXPECT_NE(refusal(TW_INVALID, plain, [](P& p) { p.size = 8; }).find("tw_grouped_init"),
            std::string::npos);
  EXPECT_EQ(refusal(TW_UNSUPPORTED, plain, [](P& p) { p.matmul.d.type = TW_S32; })
                .find("No compiled kernel computes this product in groups on sm90a. The nearest, "),
            0u);
}

}  // namespace
}  // namespace tw::tests
