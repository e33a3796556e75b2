#include "src/verify/reference.h"

#include <mutex>

#include "src/verify/bounded.h"
#include "src/verify/parallel.h"

namespace tw {

namespace {

// (k,n): the inner loop of the product then runs along n.
std::vector<float> transposed(const HostMatrix& b, std::int64_t matrix) {
  std::vector<float> result(static_cast<std::size_t>(b.rows * b.columns));
  for (std::int64_t row = 0; row < b.rows; ++row) {
    for (std::int64_t i = 0; i < b.columns; ++i) {
      result[i * b.rows + row] = static_cast<float>(b.at(matrix, row, i));
    }
  }
  return result;
}

// How far a float32 sum of k products with these magnitudes may be off. The tensor core takes at
// least `step` products at once, aligns them and the sum to the largest, and cuts each at 2^-24 of
// it (8-bit floats: 2^-13); the new sum is cut once more, at no more than twice that, and a split
// of k or a promotion adds one rounding: below step + 4 cuts of all magnitudes for each step. tf32
// inputs are tf32 numbers: cutting them changes nothing. Sums of s8 are exact, but turn into
// float32 where anything is done to them.
Bounded bounded_sum(double value, double magnitude, const MatmulShape& shape, bool integers) {
  Bounded sum = {value, 0.0, integers ? 1.0 : 0.0};
  if (is_integer(shape.a_type)) {
    if (shape.d_type == ElementType::S32 && shape.epilogue.is_plain()) return sum;
    sum.error = rounding_error(std::abs(value), 1.0);
    if (sum.error > 0.0) sum.unit = 0.0;
    return sum;
  }
  if (integers && magnitude <= std::ldexp(1.0, sum_bits(shape.a_type))) return sum;
  const int step = shape.a_type == ElementType::Tf32 ? 4 : bytes_of(shape.a_type) == 2 ? 8 : 16;
  const auto steps = static_cast<double>((shape.k + step - 1) / step);
  sum.unit = 0.0;
  const int cut = bytes_of(shape.a_type) == 1 ? -13 : -24;
  sum.error = std::ldexp(steps * (step + 4) * magnitude, cut) + std::ldexp(1.0, -126);
  return sum;
}

struct Epilogue {
  const MatmulData& data;
  const MatmulShape& shape;
  const MatmulSums& sums;
  const EpilogueShape& parts = shape.epilogue;
  ActivationArguments activation = {parts.activation, parts.clamp_low, parts.clamp_high};
  Bounded alpha = Bounded::exactly(parts.alpha);
  Bounded beta = Bounded::exactly(parts.beta);
  Bounded output_scale = Bounded::exactly(parts.output_scale);

  static Bounded read(const HostMatrix& matrix, std::int64_t batch, std::int64_t row,
                      std::int64_t column) {
    return Bounded::exactly(matrix.at(batch, row, column));
  }
  // The source's term at an element of the output.
  Bounded source(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    if (!data.source.exists()) return {};
    return beta * read(data.source, batch, row, column);
  }
  // Before the activation; the source of a gated output is added after it.
  Bounded linear(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    const auto index = static_cast<std::size_t>((batch * shape.m + row) * shape.n + column);
    const bool integers = data.fill != Fill::Normal || is_integer(shape.a_type);
    Bounded product =
        alpha * bounded_sum(sums.value[index], sums.magnitude[index], shape, integers);
    if (data.row_scale.exists()) product = product * read(data.row_scale, 0, 0, row);
    if (data.column_scale.exists()) product = product * read(data.column_scale, 0, 0, column);
    Bounded column_bias, row_bias;
    if (data.column_bias.exists()) column_bias = read(data.column_bias, 0, 0, column);
    if (data.row_bias.exists()) row_bias = read(data.row_bias, 0, 0, row);
    return sum_of(
        {product, parts.gated ? Bounded{} : source(batch, row, column), column_bias, row_bias});
  }
  // Makes an output from columns `column` and, gated, the one behind it; `before` is what `linear`
  // gave for them.
  Bounded output(const Bounded* before, std::int64_t batch, std::int64_t row,
                 std::int64_t column) const {
    const Bounded value = activated(before[0], activation);
    if (!parts.gated) return value;
    return sum_of({value * before[1], source(batch, row, column / 2)});
  }
};

struct Largest {
  double low = 0.0;
  double high = 0.0;
  void raise(const Bounded& value) {
    low = std::max(low, std::abs(value.value) - value.error);
    high = std::max(high, std::abs(value.value) + value.error);
  }
};

}  // namespace

MatmulSums sums_on_host(const MatmulData& data, const MatmulShape& shape) {
  MatmulSums sums;
  const auto count = static_cast<std::size_t>(shape.batch * shape.m * shape.n);
  sums.value.assign(count, 0.0);
  sums.magnitude.assign(count, 0.0);
  std::vector<float> b;
  for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
    if (batch == 0 || !shape.shared_b) b = transposed(data.b, batch);
    const double work = static_cast<double>(shape.m) * shape.n * shape.k;
    in_parallel(shape.m, work, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        double* value = sums.value.data() + (batch * shape.m + row) * shape.n;
        double* magnitude = sums.magnitude.data() + (batch * shape.m + row) * shape.n;
        for (std::int64_t i = 0; i < shape.k; ++i) {
          const double factor = data.a.at(batch, row, i);
          if (factor == 0.0) continue;
          const float* b_row = b.data() + i * shape.n;
          for (std::int64_t j = 0; j < shape.n; ++j) {
            value[j] += factor * b_row[j];
            magnitude[j] += std::abs(factor * b_row[j]);
          }
        }
      }
    });
  }
  return sums;
}

MatmulReference reference_of(const MatmulSums& sums, const MatmulData& data,
                             const MatmulShape& shape) {
  const Epilogue epilogue = {data, shape, sums};
  const std::int64_t columns = shape.output_columns();
  const std::int64_t step = shape.epilogue.gated ? 2 : 1;
  MatmulReference reference;
  reference.d.resize(static_cast<std::size_t>(shape.outputs()));
  if (data.auxiliary.exists()) {
    reference.auxiliary.resize(static_cast<std::size_t>(shape.batch * shape.m * shape.n));
  }
  Largest largest;
  std::mutex mutex;
  const double work = 300.0 * static_cast<double>(shape.batch * shape.m * shape.n);
  in_parallel(shape.batch * shape.m, work, [&](std::int64_t begin, std::int64_t end) {
    Largest own;
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t batch = line / shape.m, row = line % shape.m;
      for (std::int64_t column = 0; column + step <= shape.n; column += step) {
        Bounded before[2];
        for (std::int64_t i = 0; i < step; ++i) {
          before[i] = epilogue.linear(batch, row, column + i);
          if (!reference.auxiliary.empty()) {
            reference.auxiliary[line * shape.n + column + i] = {before[i].value, before[i].error};
          }
        }
        const Bounded value = epilogue.output(before, batch, row, column);
        own.raise(value);
        const Bounded output = value * epilogue.output_scale;
        reference.d[line * columns + column / step] = {output.value, output.error};
      }
    }
    const std::lock_guard lock(mutex);
    largest.low = std::max(largest.low, own.low);
    largest.high = std::max(largest.high, own.high);
  });
  reference.amax = {(largest.low + largest.high) / 2, (largest.high - largest.low) / 2};
  return reference;
}

MatmulReference reference_on_host(const MatmulData& data, const MatmulShape& shape) {
  return reference_of(sums_on_host(data, shape), data, shape);
}

}  // namespace tw
