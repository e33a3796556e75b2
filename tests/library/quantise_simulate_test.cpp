// The library's quantisers on the virtual GPU, held against the host's, bit by bit.
#include <gtest/gtest.h>

#include "tests/families/seed.h"
#include "tests/library/of_family.h"
#include "tests/library/quantise_problem.h"
#include "tilewright.hpp"
#include "tilewright/launch/targets.h"

namespace tw::tests {
namespace {

tw_quantise_problem small() { return quantise_problem(70, 300); }

// The host's memory after `simulate` had it as its problem.
template <class Simulate>
void expect_right_after(const Case& made, const Simulate& simulate) {
  const Verified verified(made);
  HostProblem ran = verified.given();
  auto placed = of_family<tw_quantise_problem>(quantise_trial, ran.placed());
  simulate(placed, ran);
  const Comparison comparison = verified.compare(ran);
  EXPECT_TRUE(comparison.good()) << comparison.complaint();
}
void expect_right(const Case& made, const tw_quantise_options* options = nullptr) {
  expect_right_after(made, [&](const tw_quantise_problem& problem, HostProblem&) {
    ASSERT_EQ(tw_quantise_simulate(&problem, options), TW_OK) << tw_message();
    EXPECT_STREQ(tw_message(), "");
  });
}

TEST(SimulateQuantise, RandomMatricesOnEveryTarget) {
  Random random(base_seed());
  std::printf("seed %llu (TW_SEED changes it)\n", static_cast<unsigned long long>(base_seed()));
  tw_quantise_options options;
  tw_quantise_init(nullptr, &options);
  for (int i = 0; i < 20; ++i) {
    for (const Instance& instance : quantise_instances()) {
      const bool is_later =
          i % 4 == 1 && runs_on(instance.target, "sm100a", instance.capability_end);
      options.target = is_later ? "sm100a" : instance.target;
      options.instance = i % 2 == 0 ? instance.name : nullptr;
      expect_right(random_case(quantise_trial, instance, random), &options);
      if (HasFailure()) return;
    }
  }
}

// Rows of a batch that lie one behind the other are quantised as one matrix; a host that knows of
// no batch makes the same bits of it.
TEST(SimulateQuantise, RowsOfABatchAreMoreRows) {
  for (const std::int64_t scale_rows : {1, 128}) {
    for (const std::int64_t column_stride : {1, 0}) {
      tw_quantise_problem shape =
          quantise_problem(256, 272);  // whole vectors: rows have no padding
      shape.scale_rows = scale_rows;
      shape.scales.column_stride = column_stride;
      expect_right_after(
          quantise_case(shape, Fill::Normal, 7), [&](tw_quantise_problem& problem, HostProblem&) {
            problem.m = 128;
            problem.batch = 2;
            const std::int64_t lines = 128 / scale_rows;
            problem.source.batch_stride = 128 * problem.source.row_stride;
            problem.elements.batch_stride = 128 * problem.elements.row_stride;
            problem.scales.batch_stride = lines * problem.scales.row_stride;
            ASSERT_EQ(tw_quantise_simulate(&problem, nullptr), TW_OK) << tw_message();
          });
    }
  }
  expect_right_after(
      quantise_case(small(), Fill::Normal, 8), [](tw_quantise_problem& problem, HostProblem&) {
        problem.batch = problem.m;
        problem.m = 1;
        for (tw_matrix* matrix : {&problem.source, &problem.elements, &problem.scales}) {
          std::swap(matrix->row_stride, matrix->batch_stride);
        }
        ASSERT_EQ(tw_quantise_simulate(&problem, nullptr), TW_OK) << tw_message();
      });
}

TEST(SimulateQuantise, NothingAndOne) {
  for (const std::int64_t scale_rows : {1, 128}) {
    for (const std::int64_t m : {0, 1, 5}) {
      for (const std::int64_t k : {0, 1, 300}) {
        tw_quantise_problem shape = quantise_problem(m, k);
        shape.scale_rows = scale_rows;
        expect_right(quantise_case(shape, Fill::Normal, 3));
        shape.batch = 0;
        expect_right(quantise_case(shape, Fill::Normal, 3));
      }
    }
  }
}

MatrixView view(HostMatrix& matrix) {
  const bool by_rows = matrix.major == Major::K;
  return {matrix.data(),
          matrix.rows,
          matrix.columns,
          static_cast<tw_type>(matrix.type),
          by_rows ? matrix.pitch : 1,
          by_rows ? 1 : matrix.pitch,
          matrix.batch,
          matrix.batch_pitch};
}

TEST(SimulateQuantise, FromCpp) {
  for (const std::int64_t scale_rows : {1, 128}) {
    tw_quantise_problem shape = quantise_problem(200, 300);
    shape.batch = 2;
    shape.scale_rows = scale_rows;
    shape.scales.column_stride = 0;
    shape.powers_of_two = 1;
    expect_right_after(quantise_case(shape, Fill::Normal, 5), [&](tw_quantise_problem&,
                                                                  HostProblem& of) {
      const MatrixView source = view(of.tensor(QuantiseFamily::source)),
                       elements = view(of.tensor(QuantiseFamily::elements));
      MatrixView scales = view(of.tensor(QuantiseFamily::scales));
      auto problem = initial<tw_quantise_problem>();
      problem.m = 200, problem.k = 300, problem.batch = 2;
      problem.scale_rows = scale_rows;
      problem.powers_of_two = 1;
      problem.source = source, problem.elements = elements, problem.scales = scales;
      const auto check = [&] {
        check_shapes(problem,
                     {{"the source", source}, {"the elements", elements}, {"the scales", scales}});
      };
      check();
      simulate(problem);
      scales.columns = 2;
      try {
        check();
        FAIL() << "Nothing was thrown.";
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), TW_INVALID);
        const std::string given = "2 x " + std::to_string(scales.rows) + " x ";
        EXPECT_EQ(error.what(),
                  "The extents of the scales are " + given + "2, but must be " + given + "3.");
      }
    });
  }
}

// What is refused: the status and the sentence.
TEST(SimulateQuantise, RefusesWithASentence) {
  HostProblem data(quantise_case(small(), Fill::Integers, 1));
  const auto refusal = [&](tw_status status, const auto& spoil) {
    auto problem = of_family<tw_quantise_problem>(quantise_trial, data.placed());
    tw_quantise_options options;
    tw_quantise_init(nullptr, &options);
    spoil(problem, options);
    EXPECT_EQ(tw_quantise_simulate(&problem, &options), status);
    return std::string(tw_message());
  };
  using P = tw_quantise_problem;
  using O = tw_quantise_options;
  EXPECT_EQ(refusal(TW_OK, [](P&, O&) {}), "");
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.m = -1; }),
            "m = -1 must be at least 0 and below 2^31 - 256.");
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.batch = -1; }),
            "batch = -1 must be at least 0 and below 2^31 - 256.");
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.scale_rows = 3; }),
            "A scale is of 3 rows, but must be of 1 or of 128.");
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.scale_rows = 0; }),
            "The elements have type e4m3, but without scales they have the source's, bf16.");
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.source.type = TW_E4M3; }),
            "The source has type e4m3, but must be bf16, fp16 or fp32.");
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.elements.type = TW_BF16; }),
            "The elements have type bf16, but must be e4m3 or e5m2.");
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.scales.type = TW_BF16; }),
            "The scales have type bf16, but must be fp32.");
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.source.column_stride = 2; }),
            "The column_stride of the source is 2, but must be 1: rows are contiguous.");
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.elements.row_stride = 299; }),
            "The pitch of the elements is 299 elements, but its lines have 300.");
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.scales.column_stride = 2; }),
            "The scales have a row_stride of 4 and a column_stride of 2, but one of them must be "
            "1.");
  EXPECT_EQ(refusal(TW_INVALID,
                    [](P& p, O&) {
                      p.scales.row_stride = 1;
                      p.scales.column_stride = 69;
                    }),
            "The pitch of the scales is 69 elements, but its lines have 70.");
  EXPECT_EQ(refusal(TW_INVALID,
                    [](P& p, O&) {
                      p.batch = 2;
                      p.scales.batch_stride = 100;
                    }),
            "The batch pitch of the scales is 100 elements, but a matrix takes 279: matrices of "
            "the batch would overlap.");
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.scales.data = nullptr; }),
            "The address of the scales is null.");
  EXPECT_EQ(
      refusal(TW_INVALID, [](P& p, O&) { p.elements.data = p.source.data; }),
      "The matrix of elements begins where the source does, but must have memory of its own.");
  EXPECT_EQ(refusal(TW_INVALID, [](P& p, O&) { p.source.row_stride = std::int64_t{1} << 60; })
                .find("The memory of the source spans"),
            0u);
  EXPECT_EQ(refusal(TW_INVALID, [](P&, O& o) { o.instance = "zebra"; }),
            "There is no instance 'zebra' of quantise; ./tw list shows those that there are.");
  EXPECT_EQ(refusal(TW_UNSUPPORTED, [](P&, O& o) { o.instance = "quantise_blocks"; }),
            "No compiled kernel quantises this on sm90a. The nearest, quantise_blocks: A scale is "
            "of 1 rows; "
            "this kernel makes one for 128.");
  EXPECT_EQ(refusal(TW_UNSUPPORTED, [](P&, O& o) { o.instance = "quantise_rows_cdna3"; }),
            "No compiled kernel quantises this on sm90a. There is none for this device.");
  EXPECT_NE(refusal(TW_INVALID, [](P& p, O&) { p.size = 8; }).find("tw_quantise_init"),
            std::string::npos);
  EXPECT_EQ(tw_quantise_simulate(nullptr, nullptr), TW_INVALID);
  EXPECT_STREQ(tw_message(), "The problem is null.");
}

}  // namespace
}  // namespace tw::tests
