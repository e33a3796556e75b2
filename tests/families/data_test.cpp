// The comparison must be able to fail: one wrong bit, one missing element, one touched byte of
// padding, in every type, with every part of the epilogue.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "src/instances/names.h"
#include "src/verify/compare.h"

namespace tw::tests {
namespace {

constexpr ElementType operand_types[] = {ElementType::Bf16, ElementType::Fp16, ElementType::Tf32,
                                         ElementType::E4m3, ElementType::E5m2, ElementType::S8};

EpilogueShape everything() {
  EpilogueShape epilogue;
  epilogue.alpha = 2.0f;
  epilogue.beta = -0.5f;
  epilogue.column_bias = epilogue.row_bias = true;
  epilogue.column_scale = epilogue.row_scale = true;
  epilogue.auxiliary = epilogue.amax = true;
  epilogue.activation = Activation::Relu;
  return epilogue;
}

// Writes what a perfect kernel would.
void write_right_results(MatmulData& data, const MatmulReference& reference) {
  std::size_t i = 0, j = 0;
  data.d.fill([&](std::int64_t, std::int64_t, std::int64_t) { return reference.d[i++].value; });
  if (data.auxiliary.exists()) {
    data.auxiliary.fill(
        [&](std::int64_t, std::int64_t, std::int64_t) { return reference.auxiliary[j++].value; });
  }
  if (data.amax.exists()) data.amax.set(0, 0, 0, reference.amax.value);
}

// An epilogue in float32, in an order of its own.
float in_float(const MatmulData& data, const MatmulShape& shape, const MatmulSums& sums,
               std::int64_t row, std::int64_t column) {
  const auto at = [](const HostMatrix& matrix, std::int64_t i, std::int64_t j) {
    return static_cast<float>(matrix.at(0, i, j));
  };
  float value = shape.epilogue.alpha * static_cast<float>(sums.value[row * shape.n + column]);
  if (data.column_scale.exists()) value *= at(data.column_scale, 0, column);
  if (data.row_scale.exists()) value *= at(data.row_scale, 0, row);
  if (data.row_bias.exists()) value += at(data.row_bias, 0, row);
  if (data.source.exists()) value += shape.epilogue.beta * at(data.source, row, column);
  if (data.column_bias.exists()) value += at(data.column_bias, 0, column);
  return std::max(value, 0.0f) * shape.epilogue.output_scale;
}

// An infinity in A: row 1 of D is infinite, or no number where it meets a zero. What nobody wrote
// is no number either, and wrong.
TEST(MatmulData, InfinitiesAreComparedToo) {
  const MatmulShape shape = {.m = 3, .n = 40, .k = 24};
  MatmulData data = make_matmul_data(shape, Fill::Integers, 7);
  data.a.set(0, 1, 5, std::numeric_limits<double>::infinity());
  const MatmulReference reference = reference_on_host(data, shape);
  int infinite = 0, no_numbers = 0;
  for (std::int64_t column = 0; column < shape.n; ++column) {
    const double value = reference.d[static_cast<std::size_t>(shape.n + column)].value;
    infinite += std::isinf(value) ? 1 : 0;
    no_numbers += std::isnan(value) ? 1 : 0;
  }
  EXPECT_EQ(infinite + no_numbers, shape.n);
  ASSERT_GT(infinite, 0);
  ASSERT_GT(no_numbers, 0);
  EXPECT_EQ(compare(data, reference).wrong, 3 * shape.n);
  write_right_results(data, reference);
  EXPECT_TRUE(compare(data, reference).good()) << compare(data, reference).complaint();
  for (std::int64_t column = 0; column < shape.n; ++column) {
    MatmulData wrong = data;
    wrong.d.set(0, 1, column, 1.0);
    EXPECT_EQ(compare(wrong, reference).wrong, 1) << column;
  }
}

TEST(HostMatrix, LinesBeginWhereTheirSpacingSays) {
  for (const ElementType type : {ElementType::Bf16, ElementType::Fp32, ElementType::E4m3}) {
    for (const std::int64_t columns : {1, 24, 64, 101}) {
      const std::int64_t size = bytes_of(type);
      const auto begins_at = [&](Spacing spacing) {
        const HostMatrix matrix(type, Major::K, 2, 5, columns, false, spacing);
        EXPECT_GE(matrix.pitch, columns);
        EXPECT_GE(matrix.batch_pitch, 5 * matrix.pitch);
        const std::int64_t all =
            size * (static_cast<std::int64_t>(matrix.first) | matrix.pitch | matrix.batch_pitch);
        return all & -all;
      };
      EXPECT_EQ(begins_at(Spacing::FourBytes), 4) << columns;
      EXPECT_EQ(begins_at(Spacing::EightBytes), 8) << columns;
      EXPECT_GE(begins_at(Spacing::Gaps), 16) << columns;
      EXPECT_GE(begins_at(Spacing::Far), 16) << columns;
      EXPECT_GT(HostMatrix(type, Major::K, 1, 5, columns, false, Spacing::Gaps).pitch, columns);
    }
  }
}

TEST(HostMatrix, LinesThatAreFarApart) {
  HostMatrix matrix(ElementType::Bf16, Major::K, 1, 6, 20, false, Spacing::Far);
  EXPECT_GT(matrix.index(0, 5, 0), std::size_t{1} << 31);
  matrix.allocate();
  matrix.poison();
  EXPECT_EQ(matrix.padding_touched(), 0);
  matrix.set(0, 5, 19, 3.0);
  HostMatrix copy = matrix;
  EXPECT_EQ(copy.at(0, 5, 19), 3.0);
  EXPECT_TRUE(copy.same_bytes(matrix));
  copy.set(0, 3, 7, 1.0);
  EXPECT_FALSE(copy.same_bytes(matrix));
  EXPECT_EQ(copy.padding_touched(), 0);
  copy.set(0, 3, 20, 1.0);
  EXPECT_EQ(copy.padding_touched(), 1);
}

TEST(MatmulData, ComparisonAcceptsWhatIsRightAndNothingElse) {
  for (const ElementType type : operand_types) {
    for (const ElementType output : element_types) {
      if (bits_in(output) < 8) continue;  // no product has such a D
      for (const Fill fill : {Fill::Integers, Fill::Normal, Fill::Position}) {
        for (const bool unaligned : {false, true}) {
          MatmulShape shape = {.m = 5, .n = 10, .k = 24, .batch = 2};
          shape.a_type = shape.b_type = type;
          shape.d_type = output;
          shape.unaligned = unaligned;
          shape.a_major = unaligned ? Major::MN : Major::K;
          shape.epilogue = everything();
          shape.epilogue.gated = unaligned;
          shape.epilogue.output_scale = fitting_output_scale(shape, fill);
          MatmulData data = make_matmul_data(shape, fill, 7);
          const MatmulReference reference = reference_on_host(data, shape);
          const std::string name = std::string(name_of(type)) + " to " + name_of(output) + " " +
                                   name_of(fill) + (unaligned ? " unaligned" : "");
          const Comparison untouched = compare(data, reference);
          EXPECT_EQ(untouched.wrong, shape.outputs() + 100 + 1) << name;
          EXPECT_EQ(untouched.unwritten, shape.outputs() + 100) << name;
          EXPECT_EQ(untouched.padding_touched, 0) << name;
          write_right_results(data, reference);
          const Comparison right = compare(data, reference);
          EXPECT_TRUE(right.good()) << name << " " << right.complaint();
          EXPECT_TRUE(right.exact || fill == Fill::Normal) << name;

          MatmulData padded = data;
          const std::size_t behind = data.d.index(1, 4, data.d.columns - 1) + 1;
          std::memset(padded.d.element(behind), 0, bytes_of(output));
          EXPECT_EQ(compare(padded, reference).padding_touched, 1) << name;
          padded = data;
          std::memset(padded.auxiliary.element(padded.auxiliary.first - 1), 0, 1);
          EXPECT_EQ(compare(padded, reference).padding_touched, 1) << name;

          MatmulData off = data;
          const std::uint32_t poison = poison_bits(output, data.d.index(0, 2, 3));
          std::memcpy(off.d.element(data.d.index(0, 2, 3)), &poison, bytes_of(output));
          EXPECT_EQ(compare(off, reference).wrong, 1) << name;
          off = data;
          off.amax.set(0, 0, 0, reference.amax.value * 1.5 + 1);
          EXPECT_EQ(compare(off, reference).wrong, 1) << name;
        }
      }
    }
  }
}

TEST(MatmulData, ExactComparisonCatchesEveryBit) {
  MatmulShape shape = {.m = 3, .n = 8, .k = 16};
  for (const ElementType output : element_types) {
    if (bits_in(output) < 8) continue;
    shape.d_type = output;
    MatmulData data = make_matmul_data(shape, Fill::Integers, 3);
    const MatmulReference reference = reference_on_host(data, shape);
    write_right_results(data, reference);
    for (std::int64_t column = 0; column < shape.n; ++column) {
      const std::size_t index = data.d.index(0, 1, column);
      for (unsigned bit = 0; bit < 8 * bytes_of(output); ++bit) {
        if (output == ElementType::Tf32 && bit < 13) continue;  // nobody reads them
        MatmulData off = data;
        const std::uint32_t bits = read_bits(output, data.d.element(index)) ^ (1u << bit);
        std::memcpy(off.d.element(index), &bits, bytes_of(output));
        if (read_element(output, off.d.element(index)) ==
            read_element(output, data.d.element(index))) {
          continue;  // the sign of zero
        }
        EXPECT_EQ(compare(off, reference).wrong, 1) << name_of(output) << " bit " << bit;
      }
    }
  }
}

// The bound holds what float32 computes, and is not so wide that a wrong column slips through.
TEST(MatmulData, FloatEpilogueLiesWithinTheBound) {
  for (const ElementType output : {ElementType::Bf16, ElementType::Fp32, ElementType::E4m3}) {
    MatmulShape shape = {.m = 17, .n = 40, .k = 96, .d_type = output};
    shape.epilogue = everything();
    shape.epilogue.auxiliary = shape.epilogue.amax = false;
    shape.epilogue.output_scale = fitting_output_scale(shape, Fill::Normal);
    MatmulData data = make_matmul_data(shape, Fill::Normal, 5);
    const MatmulSums sums = sums_on_host(data, shape);
    const MatmulReference reference = reference_of(sums, data, shape);
    data.d.fill([&](std::int64_t, std::int64_t row, std::int64_t column) {
      return in_float(data, shape, sums, row, column);
    });
    const Comparison right = compare(data, reference);
    EXPECT_TRUE(right.good()) << right.complaint();
    EXPECT_FALSE(right.exact);
    data.d.fill([&](std::int64_t, std::int64_t row, std::int64_t column) {
      return in_float(data, shape, sums, row, (column + 8) % shape.n);
    });
    EXPECT_GT(compare(data, reference).wrong, shape.outputs() / 3);
  }
}

// Sums of s8 beyond 2^24, to the last bit.
TEST(MatmulData, PlainIntegersAreComparedToTheLastBit) {
  MatmulShape shape = {.m = 2, .n = 3, .k = 4096};
  shape.a_type = shape.b_type = ElementType::S8;
  shape.d_type = ElementType::S32;
  MatmulData data = make_matmul_data(shape, Fill::Normal, 1);
  const auto large = [](std::int64_t, std::int64_t row, std::int64_t) { return 127.0 - row; };
  data.a.fill(large);
  data.b.fill(large);
  const MatmulReference reference = reference_on_host(data, shape);
  write_right_results(data, reference);
  const Comparison right = compare(data, reference);
  EXPECT_TRUE(right.good() && right.exact) << right.complaint();
  EXPECT_EQ(data.d.at(0, 1, 1), 4096.0 * 126 * 126);
  data.d.set(0, 1, 1, 4096.0 * 126 * 126 + 1);
  EXPECT_EQ(compare(data, reference).wrong, 1);
}

// A swap of two 8 by 8 blocks of either operand changes results.
TEST(MatmulData, PositionsTellSwappedBlocks) {
  for (const ElementType type : operand_types) {
    for (const std::uint64_t seed : {2u, 3u}) {
      MatmulShape shape = {.m = 32, .n = 32, .k = 32};
      shape.a_type = shape.b_type = type;
      shape.d_type = ElementType::Fp32;
      MatmulData data = make_matmul_data(shape, Fill::Position, seed);
      const MatmulReference reference = reference_on_host(data, shape);
      for (const bool of_a : {false, true}) {
        MatmulData swapped = data;
        HostMatrix& matrix = of_a ? swapped.a : swapped.b;
        const HostMatrix& original = of_a ? data.a : data.b;
        matrix.fill([&](std::int64_t batch, std::int64_t row, std::int64_t column) {
          return original.at(batch, row, column < 16 ? (column + 8) % 16 : column);
        });
        write_right_results(swapped, reference_on_host(swapped, shape));
        EXPECT_GT(compare(swapped, reference).wrong, 100) << name_of(type);
      }
    }
  }
}

TEST(MatmulData, UnalignedLinesAreOffSixteenBytes) {
  for (const ElementType type : element_types) {
    for (std::int64_t columns = 0; columns < 40; ++columns) {
      HostMatrix odd(type, Major::K, 2, 3, columns, true);
      odd.allocate();
      EXPECT_EQ(odd.pitch * bits_in(type) % 8, 0);
      EXPECT_NE(odd.pitch * bits_in(type) % 128, 0);
      EXPECT_GE(odd.pitch, columns);
      EXPECT_NE(reinterpret_cast<std::uintptr_t>(odd.data()) % 16, 0u);
      HostMatrix even(type, Major::MN, 2, columns, 3, false);
      even.allocate();
      EXPECT_EQ(even.pitch * bits_in(type) % 128, 0);
      EXPECT_EQ(even.batch_pitch * bits_in(type) % 128, 0);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(even.data()) % 16, 0u);
    }
  }
}

// Element i of a line takes its bits [i w, (i + 1) w); neighbours and padding keep theirs.
TEST(MatmulData, PackedElementsHaveTheirOwnBits) {
  for (const ElementType type : {ElementType::E2m1, ElementType::E2m3, ElementType::E3m2}) {
    const unsigned bits = bits_in(type);
    HostMatrix matrix(type, Major::K, 2, 3, 13, true);
    matrix.allocate();
    matrix.poison();
    matrix.fill([](std::int64_t batch, std::int64_t row, std::int64_t column) {
      return static_cast<double>((batch + 2 * row + column) % 9 - 4);
    });
    EXPECT_EQ(matrix.padding_touched(), 0) << name_of(type);
    EXPECT_EQ(matrix.at(1, 2, 12), -4 + 17 % 9) << name_of(type);
    const auto* const line = static_cast<const std::uint8_t*>(matrix.data()) +
                             (matrix.batch_pitch + 2 * matrix.pitch) * bits / 8;
    const unsigned bit = 12 * bits;
    const unsigned found = (line[bit / 8] | line[bit / 8 + 1] << 8) >> bit % 8;
    EXPECT_EQ(found % (1u << bits), matrix.code(matrix.index(1, 2, 12))) << name_of(type);
    const std::size_t behind = matrix.index(0, 0, 12) + 1;
    matrix.set_code(behind, matrix.code(behind) ^ 1);
    EXPECT_EQ(matrix.padding_touched(), 1) << name_of(type);
  }
}

}  // namespace
}  // namespace tw::tests
