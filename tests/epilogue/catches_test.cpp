// Planted mistakes: the comparison, or the virtual GPU, must say so.
#include <gtest/gtest.h>

#include "tests/epilogue/kernel.h"
#include "tests/vgpu/support.h"

namespace tw::tests {
namespace {

using test::clean;
using Staged = StagedStore<ElementType::Bf16, 64, NoTrace>;

EpilogueCase small_case() {
  EpilogueCase problem;
  problem.m = 80;
  problem.n = 130;
  return problem;
}

TEST(EpilogueCatches, OneWrongBitAndOneTouchedByte) {
  EpilogueData data(small_case());
  EXPECT_NE(data.complaint().find("10400 wrong"), std::string::npos) << "all poison";
  ASSERT_TRUE(clean(run_mixed<ElementType::Bf16>(data)));
  ASSERT_EQ(data.complaint(), "");
  data.d.data()[2 * data.d.index(0, 7, 9)] ^= 1;
  EXPECT_NE(data.complaint().find("D (0, 7, 9)"), std::string::npos) << data.complaint();
  data.d.data()[2 * data.d.index(0, 7, 9)] ^= 1;
  data.d.storage[data.d.begin + 2 * static_cast<std::size_t>(data.d.columns)] = 0;
  EXPECT_NE(data.complaint().find("was touched; 1 wrong"), std::string::npos) << data.complaint();
}

// Another function than was asked for; nearly the same one.
TEST(EpilogueCatches, AnotherActivation) {
  EpilogueCase problem = small_case();
  problem.exact = false;
  problem.arguments.activation = Activation::Gelu;
  EpilogueData data(problem);
  using Wrong = Tree<node::Silu<node::Sum>>;
  ASSERT_TRUE(clean(run_kernel<Wrong, Staged, MatrixFloats>(data, {})));
  EXPECT_NE(data.complaint(), "");
}

// Without m_end the tile runs into rows that are somebody else's.
struct ForgetsTheEnd : PlainRun {
  static TileOrigin place(const TileOrigin& tile, const EpilogueData& data) {
    return {tile.batch, tile.row, tile.column, data.problem.m};
  }
};
TEST(EpilogueCatches, RowsBehindTheEnd) {
  for (const int end : {64, 50}) {
    EpilogueCase problem = small_case();
    problem.group_ends = {end};
    EpilogueData good(problem);
    ASSERT_TRUE(clean(run_mixed<ElementType::Bf16>(good)));
    EXPECT_EQ(good.complaint(), "");
    EpilogueData data(problem);
    run_kernel<RuntimeEpilogue, Staged, MatrixFloats>(data, data.arguments, ForgetsTheEnd{});
    EXPECT_NE(data.complaint(), "");
  }
}

// The largest magnitude counts nothing from outside.
TEST(EpilogueCatches, MagnitudesFromOutside) {
  EpilogueCase problem = small_case();
  std::uint32_t asked = 0;
  problem.arguments.amax = &asked;
  problem.group_ends = {50};
  EpilogueData data(problem);
  run_kernel<RuntimeEpilogue, Staged, MatrixFloats>(data, data.arguments, ForgetsTheEnd{});
  EXPECT_EQ(std::bit_cast<float>(data.amax), 0x1p30f);
}

}  // namespace
}  // namespace tw::tests
