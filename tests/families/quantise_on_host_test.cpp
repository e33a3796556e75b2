// The quantiser on the host against the definition, in double and by the oracle of number/.
#include "tilewright/family/quantise/on_host.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/library/quantise_problem.h"
#include "tests/number/oracle.h"

namespace tw::tests {
namespace {

constexpr std::uint64_t seed = 20261115;

// Source, elements and scales as the host made them.
struct Quantised {
  explicit Quantised(const Case& made)
      : problem(made.problem.as<tw_quantise_problem>()), memory(made) {}
  const HostMatrix& source() const { return memory.tensor(QuantiseFamily::source); }
  const HostMatrix& elements() const { return memory.tensor(QuantiseFamily::elements); }
  const HostMatrix& scales() const { return memory.tensor(QuantiseFamily::scales); }
  void quantise() {
    const AnyProblem placed = memory.placed();
    Checked checked;
    const Status status = check(checked, QuantiseFamily::description, placed.data());
    ASSERT_TRUE(status.is_good()) << status.sentence();
    quantise_on_host(checked);
  }
  tw_quantise_problem problem;
  HostProblem memory;
};

// One block, its rows and columns inside of the matrix.
template <class Element>
void expect_block(const Quantised& data, std::int64_t batch, std::int64_t row_block,
                  std::int64_t k_block) {
  const tw_quantise_problem& shape = data.problem;
  const std::int64_t first_row = row_block * shape.scale_rows, first = k_block * 128;
  const auto each = [&](const auto& visit) {
    for (std::int64_t row = first_row; row < std::min(shape.m, first_row + shape.scale_rows); ++row)
      for (std::int64_t column = first; column < std::min(shape.k, first + 128); ++column)
        visit(row, column);
  };
  double amax = 0.0;
  each([&](std::int64_t row, std::int64_t column) {
    const double value = std::fabs(data.source().at(batch, row, column));
    if (!(value <= amax)) amax = std::isnan(amax) ? amax : value;
  });
  const auto& oracle = oracle::oracle_of<Element>();
  const float scale = oracle::block_scale(amax, oracle.spec().max, shape.powers_of_two != 0);
  const auto bits = [&](const HostMatrix& matrix, std::int64_t row, std::int64_t column) {
    return read_bits(matrix.type, matrix.element(matrix.index(batch, row, column)));
  };
  ASSERT_EQ(bits(data.scales(), row_block, k_block), std::bit_cast<std::uint32_t>(scale))
      << "amax " << amax << " of block " << row_block << ", " << k_block;
  const float inverse = static_cast<float>(1.0 / static_cast<double>(scale));
  each([&](std::int64_t row, std::int64_t column) {
    // The product of two floats is a double.
    const auto value = static_cast<float>(data.source().at(batch, row, column) * inverse);
    ASSERT_EQ(bits(data.elements(), row, column), oracle.encode(value, Overflow::saturate))
        << row << ", " << column;
  });
}

void expect_defined(const Case& made) {
  Quantised data(made);
  data.quantise();
  if (testing::Test::HasFatalFailure()) return;
  for (std::int64_t batch = 0; batch < data.problem.batch; ++batch) {
    for (std::int64_t i = 0; i < data.scales().rows; ++i) {
      for (std::int64_t j = 0; j < data.scales().columns; ++j) {
        if (data.problem.elements.type == TW_E4M3) {
          expect_block<E4m3>(data, batch, i, j);
        } else {
          expect_block<E5m2>(data, batch, i, j);
        }
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
  EXPECT_EQ(data.elements().padding_touched() + data.scales().padding_touched(), 0);
}

TEST(QuantiseOnHost, FollowsTheDefinition) {
  std::mt19937_64 random(seed);
  int problem = 0;
  for (const tw_type source : {TW_BF16, TW_FP16, TW_FP32})
    for (const tw_type element : {TW_E4M3, TW_E5M2})
      for (const std::int64_t scale_rows : {1, 128})
        for (const int powers_of_two : {0, 1})
          for (const Fill fill : {Fill::Normal, Fill::Integers, Fill::Position}) {
            ++problem;
            tw_quantise_problem shape =
                quantise_problem(1 + static_cast<std::int64_t>(random() % 300),
                                 1 + static_cast<std::int64_t>(random() % 700));
            shape.source.type = source;
            shape.elements.type = element;
            shape.scale_rows = scale_rows;
            shape.powers_of_two = powers_of_two;
            shape.scales.column_stride = problem % 2 == 0 ? 1 : 0;
            shape.batch = problem % 5 == 0 ? 2 : 1;
            Case made = quantise_case(shape, fill, seed + static_cast<std::uint64_t>(problem));
            made.unaligned = problem % 3 == 0;
            expect_defined(made);
            ASSERT_FALSE(HasFatalFailure()) << "problem " << problem << " of seed " << seed;
          }
}

// One row of 256: what becomes of a block, and that its neighbour does not see it.
TEST(QuantiseOnHost, MakesNanOfABlockThatIsNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double special : {infinity, -infinity, std::nan("")}) {
    Quantised data(quantise_case(quantise_problem(1, 256), Fill::Integers, seed));
    data.memory.tensor(QuantiseFamily::source).set(0, 0, 100, special);
    data.memory.tensor(QuantiseFamily::source).set(0, 0, 200, 8.0);
    data.quantise();
    for (std::int64_t column = 0; column < 256; ++column) {
      EXPECT_EQ(std::isnan(data.elements().at(0, 0, column)), column < 128) << column;
    }
    EXPECT_TRUE(std::isnan(data.scales().at(0, 0, 0)));
    EXPECT_EQ(data.scales().at(0, 0, 1), static_cast<double>(8.0f / 448.0f));
  }
}

TEST(QuantiseOnHost, KeepsZerosAndTheSmallest) {
  tw_quantise_problem shape = quantise_problem(2, 128);
  shape.source.type = TW_FP32;
  Quantised data(quantise_case(shape, Fill::Integers, seed));
  data.memory.tensor(QuantiseFamily::source)
      .fill([](std::int64_t, std::int64_t row, std::int64_t column) {
        return row == 0 ? (column % 2 == 0 ? 0.0 : -0.0) : 0x1p-149;
      });
  data.quantise();
  EXPECT_EQ(data.scales().at(0, 0, 0), 1.0);
  EXPECT_EQ(data.elements().at(0, 0, 0), 0.0);
  EXPECT_TRUE(std::signbit(data.elements().at(0, 0, 1)));
  EXPECT_EQ(data.scales().at(0, 1, 0), 0x1p-126);
  EXPECT_EQ(data.elements().at(0, 1, 0), 0.0);  // 2^-23 of the scale: below half of the smallest
}

TEST(QuantiseOnHost, TakesNothing) {
  for (const auto& [m, k] : {std::pair<std::int64_t, std::int64_t>(5, 0), {0, 5}}) {
    Quantised data(quantise_case(quantise_problem(m, k), Fill::Integers, seed));
    data.quantise();
  }
}

}  // namespace
}  // namespace tw::tests
