#include "src/matmul/data.h"

#include <cmath>
#include <cstdio>
#include <random>

namespace tw {

namespace {

constexpr std::uint16_t poison_bits = 0x7fa5;

void fill_matrix(std::vector<Bf16>& values, Fill fill, std::mt19937_64& random) {
  if (fill == Fill::Integers) {
    for (Bf16& value : values) value = Bf16(static_cast<float>(static_cast<int>(random() % 9) - 4));
  } else {
    std::normal_distribution<float> normal;
    for (Bf16& value : values) value = Bf16(normal(random));
  }
}

std::vector<float> widened(const HostMatrix& matrix) {
  std::vector<float> result(matrix.rows * matrix.columns);
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (std::int64_t column = 0; column < matrix.columns; ++column) {
      result[row * matrix.columns + column] =
          static_cast<float>(matrix.values[row * matrix.pitch + column]);
    }
  }
  return result;
}

// Integers times such a scale are exact in float32.
bool keeps_integers_exact(float scale) {
  return scale * 8 == std::round(scale * 8) && std::abs(scale) <= 64;
}

}  // namespace

MatmulData make_matmul_data(const MatmulShape& shape, Fill fill, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  MatmulData data;
  data.a = HostMatrix(shape.m, shape.k);
  data.b = HostMatrix(shape.n, shape.k);
  data.d = HostMatrix(shape.m, shape.n);
  fill_matrix(data.a.values, fill, random);
  fill_matrix(data.b.values, fill, random);
  for (Bf16& value : data.d.values) value = Bf16::from_bits(poison_bits);
  if (shape.beta != 0.0f) {
    data.source = HostMatrix(shape.m, shape.n);
    fill_matrix(data.source.values, fill, random);
  }
  if (shape.bias) {
    data.bias.resize(shape.n);
    fill_matrix(data.bias, fill, random);
  }
  return data;
}

MatmulProblem problem_on_host(MatmulData& data, const MatmulShape& shape) {
  MatmulProblem problem;
  problem.m = shape.m;
  problem.n = shape.n;
  problem.k = shape.k;
  problem.a = data.a.values.data();
  problem.a_pitch = data.a.pitch;
  problem.b = data.b.values.data();
  problem.b_pitch = data.b.pitch;
  problem.d = data.d.values.data();
  problem.d_pitch = data.d.pitch;
  problem.alpha = shape.alpha;
  problem.beta = shape.beta;
  if (!data.source.values.empty()) {
    problem.source = data.source.values.data();
    problem.source_pitch = data.source.pitch;
  }
  if (!data.bias.empty()) problem.bias = data.bias.data();
  return problem;
}

MatmulReference reference_on_host(const MatmulData& data, const MatmulShape& shape) {
  const std::vector<float> a = widened(data.a);
  const std::vector<float> b = widened(data.b);
  std::vector<float> b_by_k(b.size());  // (k,n): the inner loop then runs along n
  for (std::int64_t j = 0; j < shape.n; ++j) {
    for (std::int64_t i = 0; i < shape.k; ++i) b_by_k[i * shape.n + j] = b[j * shape.k + i];
  }
  MatmulReference reference;
  reference.value.assign(shape.m * shape.n, 0.0);
  reference.magnitude.assign(shape.m * shape.n, 0.0);
  for (std::int64_t row = 0; row < shape.m; ++row) {
    double* value = &reference.value[row * shape.n];
    double* magnitude = &reference.magnitude[row * shape.n];
    for (std::int64_t i = 0; i < shape.k; ++i) {
      const double factor = a[row * shape.k + i];
      const float* b_row = &b_by_k[i * shape.n];
      for (std::int64_t j = 0; j < shape.n; ++j) {
        value[j] += factor * b_row[j];
        magnitude[j] += std::abs(factor * b_row[j]);
      }
    }
    for (std::int64_t j = 0; j < shape.n; ++j) {
      value[j] *= shape.alpha;
      magnitude[j] *= std::abs(shape.alpha);
      if (!data.source.values.empty()) {
        const double c = static_cast<float>(data.source.values[row * data.source.pitch + j]);
        value[j] += shape.beta * c;
        magnitude[j] += std::abs(shape.beta * c);
      }
      if (!data.bias.empty()) {
        const double bias = static_cast<float>(data.bias[j]);
        value[j] += bias;
        magnitude[j] += std::abs(bias);
      }
    }
  }
  return reference;
}

Comparison compare(const MatmulData& data, const MatmulReference& reference,
                   const MatmulShape& shape, Fill fill) {
  // Each product step of 16 aligns 17 addends to the largest and cuts them at 2^-24 of it, and the
  // sum is cut once more; a step's error is below 19 * 2^-24 of all magnitudes. The epilogue adds a
  // few roundings. Rounding to bf16 then moves the result by at most 2^-8 of itself.
  const double steps = static_cast<double>((shape.k + 15) / 16) * 19.0 + 4.0;
  const double sum_error = steps * std::ldexp(1.0, -24);
  Comparison result;
  result.exact = fill == Fill::Integers && keeps_integers_exact(shape.alpha) &&
                 keeps_integers_exact(shape.beta);
  for (std::int64_t row = 0; row < shape.m; ++row) {
    for (std::int64_t column = 0; column < data.d.pitch; ++column) {
      const Bf16 found = data.d.values[row * data.d.pitch + column];
      if (column >= shape.n) {
        result.padding_touched += found.bits != poison_bits;
        continue;
      }
      const double expected = reference.value[row * shape.n + column];
      const Bf16 rounded = Bf16(static_cast<float>(expected));
      bool good = found.bits == rounded.bits || (expected == 0.0 && (found.bits & 0x7fff) == 0);
      if (!result.exact) {
        const double bound = sum_error * reference.magnitude[row * shape.n + column] +
                             std::ldexp(std::abs(expected), -8) + 1e-37;
        const double share = std::abs(static_cast<float>(found) - expected) / bound;
        good = good || share <= 1.0;  // an infinity that rounding makes is right, NaN is not
        if (share <= 1.0) result.worst = std::max(result.worst, share);
      }
      if (good) continue;
      if (result.wrong++ == 0) {
        char text[160];
        std::snprintf(
            text, sizeof text,
            "The first wrong element is (%lld, %lld): expected %g, found %g (bits 0x%04x).",
            static_cast<long long>(row), static_cast<long long>(column), expected,
            static_cast<double>(static_cast<float>(found)), found.bits);
        result.first = text;
      }
    }
  }
  return result;
}

}  // namespace tw
