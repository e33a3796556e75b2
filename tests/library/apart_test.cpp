// Memory that is written and overlaps other memory is refused; columns side by side are not.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tilewright.h"

namespace tw::tests {
namespace {

alignas(256) unsigned char arena[1 << 20];

// 64 x 64 x 64 in bf16, each matrix in memory of its own: 8192 bytes, 16384 apart.
struct Product {
  Product() {
    tw_matmul_init(&problem, nullptr);
    problem.m = problem.n = problem.k = 64;
    problem.a = {arena, 64, 1, 0, TW_BF16};
    problem.b = {arena + 16384, 1, 64, 0, TW_BF16};
    problem.d = {d, 64, 1, 0, TW_BF16};
  }
  // What is wrong with it; empty: nothing.
  std::string sentence() const {
    const tw_status status = tw_matmul_simulate(&problem, nullptr);
    const std::string message = tw_message();
    return status == TW_INVALID ? message : "";
  }
  unsigned char* const d = arena + 32768;
  tw_matmul_problem problem;
};

std::string sentence_of(const std::function<void(Product&)>& spoil) {
  Product given;
  spoil(given);
  return given.sentence();
}

TEST(Apart, WhatIsSoundIsTaken) {
  EXPECT_EQ(sentence_of([](Product&) {}), "");
  EXPECT_EQ(sentence_of([](Product& g) { g.problem.d.data = arena + 8192; }), "");
  EXPECT_EQ(sentence_of([](Product& g) { g.problem.a.data = g.problem.b.data; }), "");
}

TEST(Apart, DInAnOperand) {
  EXPECT_EQ(sentence_of([](Product& g) { g.problem.d.data = arena + 128; }),
            "D begins 128 bytes behind A and overlaps it, but must have memory of its own.");
  EXPECT_EQ(sentence_of([](Product& g) { g.problem.d.data = arena + 16384 - 16; }),
            "D begins 16 bytes before B and overlaps it, but must have memory of its own.");
  EXPECT_EQ(sentence_of([](Product& g) { g.problem.d.data = arena + 8190; }),
            "D begins 8190 bytes behind A and overlaps it, but must have memory of its own.");
}

TEST(Apart, AuxiliaryInD) {
  EXPECT_EQ(
      sentence_of([](Product& g) {
        g.problem.epilogue.auxiliary = {g.d + 20, 64, 1, 0, TW_BF16};
      }),
      "The auxiliary output begins 20 bytes behind D and overlaps it, but must have memory of "
      "its own.");
}

TEST(Apart, AmaxInDOrInWhatIsRead) {
  const auto amax_at = [](unsigned char* place) {
    return [place](Product& g) { g.problem.epilogue.amax = reinterpret_cast<float*>(place); };
  };
  EXPECT_EQ(sentence_of(amax_at(arena + 32768 + 400)),
            "amax begins 400 bytes behind D and overlaps it, but must have memory of its own.");
  EXPECT_EQ(sentence_of(amax_at(arena + 16384)),
            "amax begins where B does, but must have memory of its own.");
  EXPECT_EQ(sentence_of(amax_at(arena + 65536)), "");
}

TEST(Apart, SourceInD) {
  const auto source_at = [](int bytes, float beta) {
    return [=](Product& g) {
      g.problem.epilogue.beta = beta;
      g.problem.epilogue.source = {g.d + bytes, 64, 1, 0, TW_BF16};
    };
  };
  EXPECT_EQ(sentence_of(source_at(128, 1.0f)),
            "D begins 128 bytes before the source and overlaps it, but must have memory of its "
            "own.");
  EXPECT_EQ(sentence_of(source_at(128, 0.0f)), "");  // it is not read
  EXPECT_EQ(sentence_of(source_at(0, 1.0f)), "");    // in place
}

TEST(Apart, BiasInD) {
  EXPECT_EQ(sentence_of([](Product& g) { g.problem.epilogue.column_bias = g.d + 8190; }),
            "D begins 8190 bytes before the column bias and overlaps it, but must have memory of "
            "its own.");
}

// Three matrices of 64 columns in one of 192, and one column more than fits.
TEST(Apart, ColumnsSideBySide) {
  const auto d_at_column = [](int column) {
    return [column](Product& g) {
      g.problem.a = {arena, 192, 1, 0, TW_BF16};
      g.problem.b.data = arena + 131072;
      g.problem.d = {arena + 2 * column, 192, 1, 0, TW_BF16};
    };
  };
  EXPECT_EQ(sentence_of(d_at_column(64)), "");
  EXPECT_EQ(sentence_of(d_at_column(128)), "");
  EXPECT_EQ(sentence_of(d_at_column(192 + 64)), "");
  EXPECT_NE(sentence_of(d_at_column(63)), "");
  EXPECT_NE(sentence_of(d_at_column(129)), "");
}

// A and D of each matrix of the batch, one behind the other.
TEST(Apart, MatricesThatTakeTurns) {
  const auto batched = [](int bytes) {
    return [bytes](Product& g) {
      g.problem.batch = 3;
      g.problem.a = {arena + 65536, 64, 1, 8192, TW_BF16};
      g.problem.d = {arena + 65536 + bytes, 64, 1, 8192, TW_BF16};
    };
  };
  EXPECT_EQ(sentence_of(batched(8192)), "");
  EXPECT_NE(sentence_of(batched(8190)), "");
  EXPECT_NE(sentence_of(batched(8194)), "");
}

TEST(Apart, Convolutions) {
  tw_conv2d_problem problem;
  tw_conv2d_init(&problem, nullptr);
  problem.c = problem.k = 16;
  problem.h = problem.w = {8, 1, 1, 1, 0, 0};
  problem.image = arena;
  problem.filter = arena + 16384;
  problem.d = arena + 32;
  EXPECT_EQ(tw_conv2d_simulate(&problem, nullptr), TW_INVALID);
  EXPECT_STREQ(tw_message(),
               "D begins 32 bytes behind the image and overlaps it, but must have memory of its "
               "own.");
  problem.d = arena + 16384 - 2;
  EXPECT_EQ(tw_conv2d_simulate(&problem, nullptr), TW_INVALID);
}

TEST(Apart, GroupsAndTheirRows) {
  tw_grouped_problem problem;
  tw_grouped_init(&problem, nullptr);
  problem.matmul = Product().problem;
  problem.matmul.batch = 2;
  problem.matmul.b.batch_stride = 4096;
  problem.matmul.d.data = arena + 16384 + 8192;  // the second B
  problem.rows = reinterpret_cast<const std::int32_t*>(arena + 65536);
  EXPECT_EQ(tw_grouped_simulate(&problem, nullptr), TW_INVALID);
  EXPECT_STREQ(tw_message(),
               "D begins 8192 bytes behind B and overlaps it, but must have memory of its own.");
  problem.matmul.d.data = arena + 65536 - 16;
  EXPECT_EQ(tw_grouped_simulate(&problem, nullptr), TW_INVALID);
  EXPECT_STREQ(tw_message(),
               "D begins 16 bytes before the groups' rows and overlaps it, but must have memory of "
               "its own.");
}

// A has eight rows, of which 64 are gathered: what lies behind them is not A's.
TEST(Apart, GatheredRows) {
  tw_grouped_problem problem;
  tw_grouped_init(&problem, nullptr);
  problem.matmul = Product().problem;
  problem.rows = reinterpret_cast<const std::int32_t*>(arena + 65536);
  problem.row_index = reinterpret_cast<const std::int32_t*>(arena + 65536 + 256);
  problem.a_rows = 8;
  problem.matmul.d.data = arena + 1024;
  EXPECT_NE(tw_grouped_simulate(&problem, nullptr), TW_INVALID) << tw_message();
  problem.matmul.d.data = arena + 1008;
  EXPECT_EQ(tw_grouped_simulate(&problem, nullptr), TW_INVALID);
}

TEST(Apart, QuantisedInPlace) {
  tw_quantise_problem problem;
  tw_quantise_init(&problem, nullptr);
  problem.m = problem.k = 64;
  problem.source = {arena, 64, 1, 0, TW_BF16};
  problem.elements = {arena + 16384, 64, 1, 0, TW_E4M3};
  problem.scales = {arena + 16384 + 64, 1, 1, 0, TW_FP32};
  EXPECT_EQ(tw_quantise_simulate(&problem, nullptr), TW_INVALID);
  EXPECT_STREQ(tw_message(),
               "The matrix of scales begins 64 bytes behind the matrix of elements and overlaps "
               "it, but must have memory of its own.");
}

// 64 rows of 512 elements, two in a byte: the scales begin where the elements end.
TEST(Apart, PackedElements) {
  tw_block_quantise_problem problem;
  tw_block_quantise_init(&problem, nullptr);
  problem.m = 64;
  problem.k = 512;
  problem.source = {arena, 512, 1, 0, TW_BF16};
  problem.elements = {arena + 65536, 512, 1, 0, TW_E2M1};
  problem.scale = TW_UE8M0;
  problem.scales = arena + 65536 + 16384;
  EXPECT_NE(tw_block_quantise_simulate(&problem, nullptr), TW_INVALID) << tw_message();
  problem.scales = arena + 65536 + 16384 - 16;
  EXPECT_EQ(tw_block_quantise_simulate(&problem, nullptr), TW_INVALID);
}

}  // namespace
}  // namespace tw::tests
