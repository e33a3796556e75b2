// The quantiser on the host against the definition, in double and by the oracle of number/.
#include "tilewright/host/quantise_on_host.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "src/quantise/data.h"
#include "tests/number/oracle.h"

namespace tw::tests {
namespace {

constexpr std::uint64_t seed = 20261115;

// One block, its rows and columns inside of the matrix.
template <class Element>
void expect_block(const QuantiseData& data, const QuantiseShape& shape, std::int64_t batch,
                  std::int64_t row_block, std::int64_t k_block) {
  const std::int64_t first_row = row_block * shape.scale_rows, first = k_block * 128;
  const auto each = [&](const auto& visit) {
    for (std::int64_t row = first_row; row < std::min(shape.m, first_row + shape.scale_rows); ++row)
      for (std::int64_t column = first; column < std::min(shape.k, first + 128); ++column)
        visit(row, column);
  };
  double amax = 0.0;
  each([&](std::int64_t row, std::int64_t column) {
    const double value = std::fabs(data.source.at(batch, row, column));
    if (!(value <= amax)) amax = std::isnan(amax) ? amax : value;
  });
  const auto& oracle = oracle::oracle_of<Element>();
  const float scale =
      oracle::block_scale(amax, oracle.spec().max, shape.rule == BlockScale::power_of_two);
  const auto bits = [&](const HostMatrix& matrix, std::int64_t row, std::int64_t column) {
    return read_bits(matrix.type, matrix.element(matrix.index(batch, row, column)));
  };
  ASSERT_EQ(bits(data.scales, row_block, k_block), std::bit_cast<std::uint32_t>(scale))
      << "amax " << amax << " of block " << row_block << ", " << k_block;
  const float inverse = static_cast<float>(1.0 / static_cast<double>(scale));
  each([&](std::int64_t row, std::int64_t column) {
    // The product of two floats is a double.
    const auto value = static_cast<float>(data.source.at(batch, row, column) * inverse);
    ASSERT_EQ(bits(data.elements, row, column), oracle.encode(value, Overflow::saturate))
        << row << ", " << column;
  });
}

void expect_defined(const QuantiseShape& shape, Fill fill, std::uint64_t from) {
  QuantiseData data = make_quantise_data(shape, fill, from);
  const Status status = quantise_on_host(quantise_in_place(data, shape));
  ASSERT_TRUE(status.is_good()) << status.sentence();
  for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
    for (std::int64_t i = 0; i < data.scales.rows; ++i) {
      for (std::int64_t j = 0; j < data.scales.columns; ++j) {
        if (shape.element_type == ElementType::E4m3) {
          expect_block<E4m3>(data, shape, batch, i, j);
        } else {
          expect_block<E5m2>(data, shape, batch, i, j);
        }
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
  EXPECT_EQ(data.elements.padding_touched() + data.scales.padding_touched(), 0);
}

TEST(QuantiseOnHost, FollowsTheDefinition) {
  std::mt19937_64 random(seed);
  int problem = 0;
  for (const ElementType source : {ElementType::Bf16, ElementType::Fp16, ElementType::Fp32})
    for (const ElementType element : {ElementType::E4m3, ElementType::E5m2})
      for (const std::int64_t scale_rows : {1, 128})
        for (const BlockScale rule : {BlockScale::real, BlockScale::power_of_two})
          for (const Fill fill : {Fill::Normal, Fill::Integers, Fill::Position}) {
            ++problem;
            const QuantiseShape shape = {1 + static_cast<std::int64_t>(random() % 300),
                                         1 + static_cast<std::int64_t>(random() % 700),
                                         source,
                                         element,
                                         scale_rows,
                                         problem % 2 == 0 ? Major::K : Major::MN,
                                         rule,
                                         problem % 3 == 0,
                                         problem % 5 == 0 ? 2 : 1};
            expect_defined(shape, fill, seed + static_cast<std::uint64_t>(problem));
            ASSERT_FALSE(HasFatalFailure()) << "problem " << problem << " of seed " << seed;
          }
}

// One row of 256: what becomes of a block, and that its neighbour does not see it.
TEST(QuantiseOnHost, MakesNanOfABlockThatIsNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double special : {infinity, -infinity, std::nan("")}) {
    QuantiseShape shape;
    shape.m = 1;
    shape.k = 256;
    QuantiseData data = make_quantise_data(shape, Fill::Integers, seed);
    data.source.set(0, 0, 100, special);
    data.source.set(0, 0, 200, 8.0);
    data = quantised(data, shape);
    for (std::int64_t column = 0; column < 256; ++column) {
      EXPECT_EQ(std::isnan(data.elements.at(0, 0, column)), column < 128) << column;
    }
    EXPECT_TRUE(std::isnan(data.scales.at(0, 0, 0)));
    EXPECT_EQ(data.scales.at(0, 0, 1), static_cast<double>(8.0f / 448.0f));
  }
}

TEST(QuantiseOnHost, KeepsZerosAndTheSmallest) {
  QuantiseShape shape;
  shape.m = 2;
  shape.k = 128;
  shape.source_type = ElementType::Fp32;
  QuantiseData data = make_quantise_data(shape, Fill::Integers, seed);
  data.source.fill([](std::int64_t, std::int64_t row, std::int64_t column) {
    return row == 0 ? (column % 2 == 0 ? 0.0 : -0.0) : 0x1p-149;
  });
  data = quantised(data, shape);
  EXPECT_EQ(data.scales.at(0, 0, 0), 1.0);
  EXPECT_EQ(data.elements.at(0, 0, 0), 0.0);
  EXPECT_TRUE(std::signbit(data.elements.at(0, 0, 1)));
  EXPECT_EQ(data.scales.at(0, 1, 0), 0x1p-126);
  EXPECT_EQ(data.elements.at(0, 1, 0), 0.0);  // 2^-23 of the scale: below half of the smallest
}

TEST(QuantiseOnHost, TakesNothing) {
  QuantiseProblem problem;
  problem.m = 5;
  EXPECT_EQ(quantise_on_host(problem).sentence(), "");
  problem.m = 0;
  problem.k = 5;
  EXPECT_EQ(quantise_on_host(problem).sentence(), "");
}

TEST(QuantiseOnHost, RefusesWithASentence) {
  const auto refusal = [](const auto& change) {
    QuantiseShape shape;
    shape.m = 5;
    shape.k = 300;
    QuantiseData data = make_quantise_data(shape, Fill::Integers, seed);
    QuantiseProblem problem = quantise_in_place(data, shape);
    change(problem);
    return quantise_on_host(problem).sentence();
  };
  using P = QuantiseProblem;
  EXPECT_EQ(refusal([](P&) {}), "");
  EXPECT_EQ(refusal([](P& p) { p.m = -1; }), "m = -1 must be at least 0 and below 2^31 - 256.");
  EXPECT_EQ(refusal([](P& p) { p.scale_rows = 64; }),
            "A scale is of 64 rows, but must be of 1 or of 128.");
  EXPECT_EQ(refusal([](P& p) { p.source_type = ElementType::E4m3; }),
            "The source has type e4m3, but must be bf16, fp16 or fp32.");
  EXPECT_EQ(refusal([](P& p) { p.element_type = ElementType::Bf16; }),
            "The elements have type bf16, but must be e4m3 or e5m2.");
  EXPECT_EQ(refusal([](P& p) { p.elements_pitch = 299; }),
            "The pitch of the elements is 299 elements, but its lines have 300.");
  EXPECT_EQ(refusal([](P& p) { p.scales_pitch = 2; }),
            "The pitch of the scales is 2 elements, but its lines have 3.");
  EXPECT_EQ(refusal([](P& p) {
              p.scales_major = Major::MN;
              p.scales_pitch = 4;
            }),
            "The pitch of the scales is 4 elements, but its lines have 5.");
  EXPECT_EQ(
      refusal([](P& p) {
        p.batch = 2;
        p.elements_batch_pitch = 1515;
      }),
      "The batch pitch of the elements is 1515 elements, but a matrix takes 1516: matrices of "
      "the batch would overlap.");
  EXPECT_EQ(refusal([](P& p) { p.source = nullptr; }), "The address of the source is null.");
}

}  // namespace
}  // namespace tw::tests
