// The library's products on the virtual GPU, held against the reference.
#include <gtest/gtest.h>

#include <thread>

#include "tests/library/problem.h"
#include "tests/library/types_and_sums.h"

namespace tw::tests {
namespace {

// Runs `shape` and expects what the reference says.
void expect_right(const MatmulShape& shape, const tw_matmul_options* options = nullptr) {
  MatmulData data = make_matmul_data(shape, Fill::Integers, 3);
  const tw_matmul_problem problem = c_problem_on_host(data, shape);
  ASSERT_EQ(tw_matmul_simulate(&problem, options), TW_OK) << tw_message();
  EXPECT_STREQ(tw_message(), "");
  const Comparison comparison = compare(data, reference_on_host(data, shape));
  EXPECT_TRUE(comparison.good()) << comparison.complaint();
}

TEST(Simulate, EveryLayout) {
  for (const Major a : {Major::K, Major::MN}) {
    for (const Major b : {Major::K, Major::MN}) {
      expect_right({.m = 40, .n = 56, .k = 72, .a_major = a, .b_major = b});
    }
  }
}

// Nothing of these is refused.
TEST(Simulate, EveryTypeLayoutAndAlignment) {
  for (const auto& [type, d_type] : types_and_sums) {
    for (const Major a : {Major::K, Major::MN}) {
      for (const Major b : {Major::K, Major::MN}) {
        for (const bool unaligned : {false, true}) {
          SCOPED_TRACE(name_of(type));
          expect_right({.m = 19,
                        .n = 23,
                        .k = 37,
                        .a_type = type,
                        .b_type = type,
                        .d_type = d_type,
                        .a_major = a,
                        .b_major = b,
                        .unaligned = unaligned});
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Large enough that copies of both operands and a kernel that wants aligned rows are expected to
// be faster than a kernel that does not; also with each alignment of the other operand.
TEST(Simulate, CopiesOfWhatBeginsAnywhere) {
  for (const Major major : {Major::K, Major::MN}) {
    expect_right({.m = 300, .n = 521, .k = 1031, .a_major = major, .unaligned = true});
  }
}

TEST(Simulate, BatchesWithOneB) {
  expect_right({.m = 20, .n = 24, .k = 40, .batch = 3});
  expect_right({.m = 20, .n = 24, .k = 40, .batch = 3, .shared_b = true});
}

TEST(Simulate, Epilogues) {
  MatmulShape shape = {.m = 33, .n = 48, .k = 64};
  shape.epilogue = {.alpha = 0.5f,
                    .beta = 2.0f,
                    .activation = Activation::Relu,
                    .column_bias = true,
                    .row_bias = true,
                    .column_scale = true,
                    .row_scale = true,
                    .auxiliary = true,
                    .amax = true};
  expect_right(shape);
  shape.epilogue = {.activation = Activation::Clamp, .clamp_low = -2, .clamp_high = 9};
  expect_right(shape);
  shape.epilogue = {.activation = Activation::Relu, .gated = true};
  expect_right(shape);
}

// Strides along an extent of 1 may be anything.
TEST(Simulate, ExtentsOfOneAndNone) {
  for (const auto& [m, n, k] :
       {std::array{1, 40, 64}, std::array{40, 1, 64}, std::array{40, 24, 1}, std::array{1, 1, 8},
        std::array{1, 1, 1}, std::array{16, 24, 0}, std::array{0, 24, 8}, std::array{16, 0, 8}}) {
    const MatmulShape shape = {.m = m, .n = n, .k = k};
    MatmulData data = make_matmul_data(shape, Fill::Integers, 5);
    tw_matmul_problem problem = c_problem_on_host(data, shape);
    if (m == 1) problem.a.row_stride = 12345;
    if (m == 1) problem.d.row_stride = -7;
    if (n == 1) problem.b.column_stride = 3;
    if (n == 1) problem.d.column_stride = 17;
    if (k == 0) problem.a.data = problem.b.data = nullptr;
    if (m == 0 || n == 0) problem.d.data = nullptr;
    ASSERT_EQ(tw_matmul_simulate(&problem, nullptr), TW_OK)
        << m << "x" << n << "x" << k << ": " << tw_message();
    const Comparison comparison = compare(data, reference_on_host(data, shape));
    EXPECT_TRUE(comparison.good()) << comparison.complaint();
  }
}

TEST(Simulate, NamedInstancesAndTargets) {
  tw_matmul_options options;
  tw_matmul_init(nullptr, &options);
  options.instance = "hopper_split";
  expect_right({.m = 20, .n = 24, .k = 600}, &options);
  options.instance = nullptr;
  for (const char* target : {"sm80", "sm90a", "sm100a"}) {
    options.target = target;
    expect_right({.m = 20, .n = 24, .k = 40}, &options);
  }
  options.target = "sm80";
  options.instance = "hopper_split";
  MatmulData data = make_matmul_data({.m = 8, .n = 8, .k = 8}, Fill::Integers, 1);
  const tw_matmul_problem problem = c_problem_on_host(data, {.m = 8, .n = 8, .k = 8});
  EXPECT_EQ(tw_matmul_simulate(&problem, &options), TW_UNSUPPORTED);
  EXPECT_NE(std::string(tw_message()).find("compiled for sm90a, not for sm80"), std::string::npos)
      << tw_message();
}

TEST(Simulate, OperandsMayBeOneMatrix) {
  const MatmulShape shape = {.m = 32, .n = 32, .k = 64};
  MatmulData data = make_matmul_data(shape, Fill::Integers, 9);
  data.b = data.a;
  tw_matmul_problem problem = c_problem_on_host(data, shape);
  problem.b.data = problem.a.data;
  ASSERT_EQ(tw_matmul_simulate(&problem, nullptr), TW_OK) << tw_message();
  EXPECT_TRUE(compare(data, reference_on_host(data, shape)).good());
}

TEST(Simulate, TheSourceMayBeD) {
  MatmulShape shape = {.m = 32, .n = 48, .k = 64};
  shape.epilogue.beta = 1.0f;
  MatmulData data = make_matmul_data(shape, Fill::Integers, 9);
  const MatmulReference reference = reference_on_host(data, shape);
  tw_matmul_problem problem = c_problem_on_host(data, shape);
  data.d.fill([&](auto... place) { return data.source.at(place...); });
  problem.epilogue.source = problem.d;
  ASSERT_EQ(tw_matmul_simulate(&problem, nullptr), TW_OK) << tw_message();
  EXPECT_TRUE(compare(data, reference).good()) << compare(data, reference).complaint();
}

// The second call finds the first one's decision; addresses differ, and so do other threads.
TEST(Simulate, EightThreadsAgree) {
  const MatmulShape shapes[] = {{.m = 24, .n = 40, .k = 64},
                                {.m = 17, .n = 8, .k = 96, .batch = 2}};
  std::vector<MatmulData> serial;
  for (const MatmulShape& shape : shapes) {
    serial.push_back(make_matmul_data(shape, Fill::Normal, 11));
    const tw_matmul_problem problem = c_problem_on_host(serial.back(), shape);
    ASSERT_EQ(tw_matmul_simulate(&problem, nullptr), TW_OK) << tw_message();
  }
  std::vector<std::string> complaints(8);
  std::vector<std::thread> threads;
  for (std::string& complaint : complaints) {
    threads.emplace_back([&] {
      for (int round = 0; round < 2; ++round) {
        for (std::size_t i = 0; i < std::size(shapes); ++i) {
          MatmulData mine = make_matmul_data(shapes[i], Fill::Normal, 11);
          const tw_matmul_problem problem = c_problem_on_host(mine, shapes[i]);
          if (tw_matmul_simulate(&problem, nullptr) != TW_OK) complaint += tw_message();
          if (!same_outputs(mine, serial[i])) complaint += "other bytes";
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& complaint : complaints) EXPECT_EQ(complaint, "");
}

// A message belongs to its thread.
TEST(Simulate, MessagesStayWithTheirThread) {
  EXPECT_EQ(tw_matmul_simulate(nullptr, nullptr), TW_INVALID);
  std::thread([] { EXPECT_STREQ(tw_message(), ""); }).join();
  EXPECT_STREQ(tw_message(), "The problem is null.");
}

}  // namespace
}  // namespace tw::tests
