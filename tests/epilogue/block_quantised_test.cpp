// Outputs that are quantised by blocks of 128 columns, from sums in both layouts. What lies outside
// of a matrix is huge (stand_in.h): it must not be the largest of a block.
#include "tilewright/epilogue/block_quantised.h"

#include <gtest/gtest.h>

#include "tests/epilogue/kernel.h"
#include "tests/vgpu/support.h"

namespace tw::tests {
namespace {

using test::clean;
using Quantised = BlockQuantised<Tree<node::Relu<node::Sum>>>;

std::uint32_t asked;

EpilogueCase problem_of(int m, int n, std::uint64_t seed) {
  EpilogueCase problem;
  problem.m = m;
  problem.n = n;
  problem.output = ElementType::E4m3;
  problem.seed = seed;
  // Its memory takes the scales.
  problem.arguments.auxiliary = &asked;
  problem.arguments.auxiliary_type = ElementType::Fp32;
  return problem;
}

// The bytes that D and the scales must then be, padding included.
void expect(EpilogueData& data, PaddedMatrix& d, PaddedMatrix& scales, BlockScale rule) {
  const EpilogueCase& problem = data.problem;
  for (int batch = 0; batch < problem.batch; ++batch) {
    for (int row = 0; row < problem.stored_rows(); ++row) {
      for (int first = 0; first < problem.n; first += 128) {
        const int end = std::min(problem.n, first + 128);
        const auto value = [&](int column) {
          const auto index = (static_cast<std::size_t>(batch) * problem.m + row) * problem.n +
                             static_cast<std::size_t>(column);
          return std::max(static_cast<float>(data.sums[index]), 0.0f);
        };
        float amax = 0.0f;
        for (int column = first; column < end; ++column) amax = std::max(amax, value(column));
        const float scale = block_scale<E4m3>(amax, rule);
        scales.set(batch, row, first / 128, scale);
        for (int column = first; column < end; ++column) {
          d.data()[d.index(batch, row, column)] =
              scaled_element<E4m3>(value(column), 1.0f / scale).bits;
        }
      }
    }
  }
}

template <class Sums>
void run_and_compare(const EpilogueCase& problem, BlockScale rule) {
  EpilogueData data(problem);
  PaddedMatrix d = data.d, scales = data.auxiliary;
  expect(data, d, scales, rule);
  Quantised::Params params{};
  params.scales = {reinterpret_cast<float*>(data.auxiliary.data()), data.auxiliary.pitch, 1,
                   data.auxiliary.batch_pitch, rule};
  using Store = StagedStore<ElementType::E4m3, Sums::block_rows, NoTrace>;
  ASSERT_TRUE(clean(run_kernel<Quantised, Store, Sums>(data, params))) << problem.name();
  EXPECT_EQ(data.d.storage, d.storage) << problem.name();
  EXPECT_EQ(data.auxiliary.storage, scales.storage) << problem.name();
}

template <class Sums>
void expect_all() {
  std::uint64_t seed = 1;
  for (const auto& [m, n] : {std::pair(150, 300), {64, 128}, {1, 1}, {130, 260}, {200, 129}}) {
    for (const bool aligned : {true, false}) {
      EpilogueCase problem = problem_of(m, n, ++seed);
      problem.aligned = aligned;
      problem.batch = seed % 3 == 0 ? 2 : 1;
      if (m > 100 && seed % 2 == 0) problem.group_ends = {70, m - 5};
      run_and_compare<Sums>(problem, seed % 4 == 0 ? BlockScale::power_of_two : BlockScale::real);
    }
  }
}

TEST(BlockQuantised, MakesScalesOfMatrixFragments) { expect_all<MatrixFloats>(); }
TEST(BlockQuantised, MakesTwoScalesOfAWideTile) { expect_all<MatrixStandIn<1, 256, 1, float>>(); }
TEST(BlockQuantised, MakesScalesOfRows) { expect_all<RowFloats>(); }

}  // namespace
}  // namespace tw::tests
