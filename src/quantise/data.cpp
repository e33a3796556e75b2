#include "src/quantise/data.h"

#include <cmath>
#include <random>

#include "tilewright/host/quantise_on_host.h"

namespace tw {

namespace {

// Of one block of a row: what its normally distributed numbers are multiplied with.
class Sizes {
 public:
  Sizes(std::uint64_t seed, ElementType type) : random_(seed), type_(type) {}

  double next() {
    const auto drawn = random_() % 16;
    const int range = type_ == ElementType::Fp16 ? 8 : 100;
    if (drawn == 0) return 0.0;
    if (drawn == 1) return type_ == ElementType::Fp16 ? 0x1p-20 : 0x1p-130;
    if (drawn < 8) return 1.0;
    return std::ldexp(1.0, static_cast<int>(random_() % static_cast<unsigned>(2 * range)) - range);
  }
  // One in some thousands.
  double special(double value) {
    const auto drawn = random_() % 4096;
    if (drawn == 0) return std::numeric_limits<double>::infinity();
    if (drawn == 1) return -std::numeric_limits<double>::infinity();
    return drawn == 2 ? std::numeric_limits<double>::quiet_NaN() : value;
  }

 private:
  std::mt19937_64 random_;
  ElementType type_;
};

}  // namespace

QuantiseData make_quantise_data(const QuantiseShape& shape, Fill fill, std::uint64_t seed) {
  const auto matrix = [&](ElementType type, Major major, std::int64_t rows, std::int64_t columns) {
    HostMatrix made(type, major, shape.batch, rows, columns, shape.unaligned);
    made.allocate();
    made.poison();
    return made;
  };
  constexpr std::int64_t block = QuantiseProblem::block;
  QuantiseData data;
  data.source = matrix(shape.source_type, Major::K, shape.m, shape.k);
  data.elements = matrix(shape.element_type, Major::K, shape.m, shape.k);
  data.scales =
      matrix(ElementType::Fp32, shape.scales, (shape.m + shape.scale_rows - 1) / shape.scale_rows,
             (shape.k + block - 1) / block);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Sizes sizes(seed + 1, shape.source_type);
  double size = 1.0;
  data.source.fill([&](std::int64_t batch, std::int64_t row, std::int64_t column) -> double {
    if (fill == Fill::Integers) return static_cast<double>(random() % 17) - 8;
    if (fill == Fill::Position) {
      return static_cast<double>((batch * 101 + row * 31 + column * 7) % 251 - 125);
    }
    if (column % block == 0) size = sizes.next();
    return sizes.special(normal(random) * size);
  });
  return data;
}

QuantiseProblem quantise_at(QuantiseData& data, const QuantiseShape& shape,
                            const std::function<void*(HostMatrix&)>& address) {
  return {shape.m,
          shape.k,
          shape.batch,
          address(data.source),
          data.source.pitch,
          data.source.batch_pitch,
          data.source.type,
          address(data.elements),
          data.elements.pitch,
          data.elements.batch_pitch,
          data.elements.type,
          static_cast<float*>(address(data.scales)),
          data.scales.pitch,
          data.scales.batch_pitch,
          data.scales.major,
          shape.scale_rows,
          shape.rule};
}

QuantiseProblem quantise_in_place(QuantiseData& data, const QuantiseShape& shape) {
  return quantise_at(data, shape, [](HostMatrix& matrix) { return matrix.data(); });
}

QuantiseData quantised(QuantiseData data, const QuantiseShape& shape) {
  const Status status = quantise_on_host(quantise_in_place(data, shape));
  require(status.is_good(), status.sentence().c_str());
  return data;
}

void compare_bits(Comparison& result, const char* name, const HostMatrix& found,
                  const HostMatrix& expected) {
  const auto judge = [&](std::int64_t batch, std::int64_t row, std::int64_t column) {
    const std::size_t index = found.index(batch, row, column);
    const std::uint32_t bits = read_bits(found.type, found.element(index));
    const std::uint32_t right = read_bits(found.type, expected.element(index));
    if (bits == right) return;
    if (bits == poison_bits(found.type, index)) ++result.unwritten;
    if (result.wrong++ > 0) return;
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, "0x%x, but must be 0x%x.", bits, right);
    result.first = std::string("The first: ") + name + " at batch " + std::to_string(batch) +
                   ", row " + std::to_string(row) + ", column " + std::to_string(column) + ": " +
                   numbers;
  };
  for (std::int64_t batch = 0; batch < found.batch; ++batch) {
    for (std::int64_t row = 0; row < found.rows; ++row) {
      for (std::int64_t column = 0; column < found.columns; ++column) judge(batch, row, column);
    }
  }
  result.padding_touched += found.padding_touched();
}

Comparison compare(const QuantiseData& data, const QuantiseData& expected) {
  Comparison result;
  result.exact = true;
  compare_bits(result, "the elements", data.elements, expected.elements);
  compare_bits(result, "the scales", data.scales, expected.scales);
  return result;
}

}  // namespace tw
