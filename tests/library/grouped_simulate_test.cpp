// The library's products in groups on the virtual GPU, held against the definition.
#include <gtest/gtest.h>

#include "src/families/grouped.h"
#include "src/verify/product.h"
#include "tests/library/of_family.h"
#include "tests/library/types_and_sums.h"
#include "tilewright.hpp"

namespace tw::tests {
namespace {

using Problem = tw_grouped_problem;

// A case of the kind that an instance computes: rows as they lie, by an index, or with scales of
// blocks.
Case case_like(const std::string& instance, std::int64_t capacity = 0) {
  for (const Instance& one : grouped_instances()) {
    if (one.name != instance) continue;
    Case made = usual_case(grouped_trial, one);
    made.lists = {{70, 0, 1, 130, 5}, {capacity > 0 ? 0 : 3}};
    made.as<Problem>().capacity = capacity;
    made.as<Problem>().matmul.n = 72;
    made.as<Problem>().matmul.k = 304;
    made.seed = 3;
    return made;
  }
  throw std::runtime_error("There is no instance " + instance);
}
void lay_scales_by_columns(Case& made) {
  made.as<Problem>().a_scales.k_stride = made.as<Problem>().b_scales.k_stride = 0;
}

void expect_right(const Case& made, const tw_grouped_options* options = nullptr) {
  const Verified verified(made);
  HostProblem ran = verified.given();
  const auto placed = of_family<Problem>(grouped_trial, ran.placed());
  ASSERT_EQ(tw_grouped_simulate(&placed, options), TW_OK) << tw_message();
  const Comparison comparison = verified.compare(ran);
  EXPECT_TRUE(comparison.good() && comparison.exact) << comparison.complaint();
}

TEST(SimulateGrouped, EveryTargetAndKind) {
  tw_grouped_options options;
  tw_grouped_init(nullptr, &options);
  for (const auto& [target, word] :
       {std::pair("sm80", "ampere"), {"sm90a", "128x256"}, {"sm100a", "blackwell"}}) {
    options.target = target;
    for (const char* kind : {"grouped_", "gather_"}) {
      expect_right(case_like(std::string(kind) + word), &options);
    }
    Case made = case_like("grouped_fp8_ampere");
    expect_right(made, &options);
    lay_scales_by_columns(made);
    expect_right(made, &options);
  }
  Case made = case_like("gather_fp8_128x128");
  expect_right(made);
  lay_scales_by_columns(made);
  expect_right(made);
}

// Nothing of these is refused.
TEST(SimulateGrouped, EveryTypeLayoutAndAlignment) {
  for (const auto& [type, d_type] : types_and_sums) {
    for (unsigned kind = 0; kind < 16; ++kind) {
      Case made = case_like("grouped_128x256");
      made.lists = {{5, 0, 1, 9}, {3}};
      Problem& problem = made.as<Problem>();
      problem.matmul.n = 24;
      problem.matmul.k = 40;
      problem.matmul.a.type = problem.matmul.b.type = static_cast<tw_type>(type);
      problem.matmul.d.type = static_cast<tw_type>(d_type);
      problem.matmul.a.column_stride = kind % 2;
      problem.matmul.b.column_stride = kind / 2 % 2;
      made.unaligned = kind / 4 % 2 != 0;
      if (kind >= 8) {
        static std::int32_t somewhere;
        problem.row_index = &somewhere;
        problem.a_rows = 11;
      }
      SCOPED_TRACE(std::string(name_of(type)) + ", kind " + std::to_string(kind));
      expect_right(made);
      if (HasFatalFailure()) return;
    }
  }
}

// Every target converts; where groups have capacities that blocks of scales begin with, sm_100a's
// tensor core takes the scales.
TEST(SimulateGrouped, BlockScales) {
  tw_grouped_options options;
  tw_grouped_init(nullptr, &options);
  for (const char* target : {"sm80", "sm90a", "sm100a"}) {
    options.target = target;
    for (const char* instance : {"grouped_scaled_ampere", "grouped_mxfp8", "grouped_nvfp4"}) {
      SCOPED_TRACE(std::string(instance) + " on " + target);
      Case made = case_like(instance);
      expect_right(made, &options);
      made.as<Problem>().capacity = 256;
      made.lists = {{70, 0, 1, 130, 5}, {0}};
      const bool is_native = options.target == std::string("sm100a") && instance[8] != 's';
      options.instance = is_native ? instance : nullptr;
      expect_right(made, &options);
      options.instance = nullptr;
    }
    // Rows that are gathered bring their scales.
    static const std::int32_t index = 0;
    Case gathered = case_like("grouped_scaled_ampere");
    gathered.as<Problem>().row_index = &index;
    gathered.as<Problem>().a_rows = 90;
    expect_right(gathered, &options);
  }
  options.instance = "grouped_nvfp4";
  Case made = case_like("grouped_nvfp4");
  HostProblem ran = Verified(made).given();
  const auto placed = of_family<Problem>(grouped_trial, ran.placed());
  EXPECT_EQ(tw_grouped_simulate(&placed, &options), TW_UNSUPPORTED);
  EXPECT_STREQ(tw_message(),
               "No compiled kernel computes this product in groups on sm100a. The nearest, "
               "grouped_nvfp4: The capacity is 0 rows; this kernel needs a multiple of 128, where "
               "blocks of scales begin.");
}

TEST(SimulateGrouped, CapacitiesEpiloguesAndEmptyProblems) {
  Case made = case_like("grouped_64x128", 130);
  expect_right(made);
  EpilogueShape epilogue;
  epilogue.column_bias = epilogue.row_scale = true;
  epilogue.beta = 1.0f;
  set_epilogue(made.as<Problem>().matmul.epilogue, epilogue);
  expect_right(made);
  made.as<Problem>().matmul.k = 0;
  expect_right(made);
  made = case_like("grouped_64x128");
  made.lists = {{}, {0}};
  expect_right(made);
  made.lists = {{1}, {0}};
  expect_right(made);
}

TEST(SimulateGrouped, FromCpp) {
  const auto view = [](HostMatrix& matrix) {
    return MatrixView{matrix.data(),  matrix.rows,
                      matrix.columns, static_cast<tw_type>(matrix.type),
                      matrix.pitch,   1};
  };
  for (const char* like : {"grouped_64x128", "gather_128x256"}) {
    Case made = case_like(like);
    made.fill = Fill::Position;
    const Verified verified(made);
    HostProblem ran = verified.given();
    HostMatrix b_along_k = transposed(ran.tensor(GroupedFamily::b));
    HostMatrix& b = ran.tensor(GroupedFamily::b);
    const MatrixView a = view(ran.tensor(GroupedFamily::a)), d = view(ran.tensor(GroupedFamily::d));
    MatrixView b_view = view(b_along_k);
    b_view.data = b.data();
    b_view = b_view.transposed().batched(b.batch, b.batch_pitch);
    const auto integers = [&](unsigned tensor) {
      return reinterpret_cast<const std::int32_t*>(ran.tensor(tensor).data());
    };
    auto problem = initial<Problem>();
    problem.matmul.m = d.rows, problem.matmul.n = d.columns, problem.matmul.k = a.columns;
    problem.matmul.batch = b.batch;
    problem.matmul.a = a, problem.matmul.b = b_view, problem.matmul.d = d;
    problem.rows = integers(GroupedFamily::rows);
    problem.row_index = integers(GroupedFamily::row_index);
    if (problem.row_index != nullptr) problem.a_rows = a.rows;
    simulate(problem);
    const Comparison comparison = verified.compare(ran);
    EXPECT_TRUE(comparison.good()) << comparison.complaint();
  }
}

// What is refused: the status and the sentence. refusals/grouped.list has more.
TEST(SimulateGrouped, RefusesWithASentence) {
  const auto refusal = [&](tw_status status, const char* like, const auto& spoil) {
    HostProblem data = Verified(case_like(like)).given();
    auto placed = of_family<Problem>(grouped_trial, data.placed());
    spoil(placed);
    EXPECT_EQ(tw_grouped_simulate(&placed, nullptr), status);
    return std::string(tw_message());
  };
  using P = Problem;
  const char* plain = "grouped_64x128";
  const char* scaled = "grouped_fp8_64x128";
  EXPECT_EQ(refusal(TW_INVALID, plain, [](P& p) { p.capacity = 51; }),
            "m is 209, but must be the capacity, 51 rows, times the number of groups, 5.");
  EXPECT_EQ(refusal(TW_INVALID, "gather_128x256", [](P& p) { p.a_rows = 0; }),
            "Rows are gathered from 0 rows of A, but must be from at least 1 and below 2^31.");
  EXPECT_EQ(refusal(TW_INVALID, scaled, [](P& p) { p.a_scales.rows = 9; }),
            "The scales of A are 9 x 3, but must be 209 x 3: one for each row and each 128 of k.");
  EXPECT_EQ(
      refusal(TW_INVALID, "gather_fp8_128x128", [](P& p) { p.a_scales.rows = 209; }),
      "The scales of A are 209 x 3, but must be 100 x 3: one for each row and each 128 of k.");
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
