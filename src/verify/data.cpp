#include "src/verify/data.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace tw {

namespace {

// -limit .. limit, and zero for all but one in `sparsity`. Every sum of k products of two of them
// is then likely to be exact: the sum of their magnitudes is below 2^sum_bits.
struct SmallIntegers {
  int limit = 4;
  unsigned sparsity = 1;

  SmallIntegers(ElementType type, std::int64_t k) {
    const double most = std::ldexp(0.5, sum_bits(type));
    while (expected_magnitude(k) > most && limit > 1) limit /= 2;
    while (expected_magnitude(k) > most) sparsity *= 2;
  }
  double mean_magnitude() const { return limit * (limit + 1.0) / (2.0 * limit + 1.0) / sparsity; }
  double expected_magnitude(std::int64_t k) const {
    return static_cast<double>(k) * mean_magnitude() * mean_magnitude();
  }
  double variance() const { return limit * (limit + 1.0) / 3.0 / sparsity; }
  double draw(std::mt19937_64& random) const {
    if (sparsity > 1 && random() % sparsity != 0) return 0.0;
    return static_cast<int>(random() % static_cast<unsigned>(2 * limit + 1)) - limit;
  }
};

std::uint64_t hash(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ x >> 27) * 0x94D049BB133111EBull;
  return x ^ x >> 31;
}

// The largest integer up to which the type has them all, or enough.
int position_limit(ElementType type) {
  switch (type) {
    case ElementType::E4m3: return 15;
    case ElementType::E5m2:
    case ElementType::E2m3: return 7;
    case ElementType::E3m2: return 8;
    case ElementType::E2m1: return 4;
    default: return 100;
  }
}

void fill_positions(HostMatrix& matrix, std::uint64_t seed) {
  const int limit = position_limit(matrix.type);
  matrix.fill([&](std::int64_t batch, std::int64_t row, std::int64_t column) {
    const auto place = static_cast<std::uint64_t>((batch << 56) ^ (row << 28) ^ column);
    return static_cast<int>(hash(place + hash(seed)) % (2 * limit + 1)) - limit;
  });
}

void fill_selection(HostMatrix& matrix) {
  matrix.fill([&](std::int64_t batch, std::int64_t row, std::int64_t column) {
    return column == (row + batch) % matrix.columns ? 1.0 : 0.0;
  });
}

void fill_operand(HostMatrix& matrix, Fill fill, const SmallIntegers& integers,
                  std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const bool bytes = matrix.type == ElementType::S8;
  matrix.fill([&](std::int64_t, std::int64_t, std::int64_t) {
    if (fill != Fill::Normal) return integers.draw(random);
    return bytes ? static_cast<int>(random() % 255) - 127.0 : normal(random);
  });
}

// Powers of two where sums must stay exact.
void fill_scales(HostMatrix& scales, Fill fill, std::mt19937_64& random) {
  std::uniform_real_distribution<double> between(0.5, 2.0);
  scales.fill([&](std::int64_t, std::int64_t, std::int64_t) {
    if (fill == Fill::Normal) return between(random);
    const double powers[] = {0.5, 1.0, 1.0, 2.0, -1.0};
    return powers[random() % 5];
  });
}

}  // namespace

float fitting_output_scale(const MatmulShape& shape, Fill fill) {
  const double k = static_cast<double>(std::max<std::int64_t>(shape.k, 1));
  double deviation = std::sqrt(k);
  if (fill == Fill::Integers) deviation *= SmallIntegers(shape.a_type, shape.k).variance();
  if (fill == Fill::Normal && shape.a_type == ElementType::S8) deviation *= 73.3 * 73.3;
  if (fill == Fill::Position) deviation = 100.0;
  deviation *= std::abs(shape.epilogue.alpha);
  if (shape.epilogue.gated) deviation *= deviation;
  double limit = 0.0;
  switch (shape.d_type) {
    case ElementType::S8: limit = 127.0; break;
    case ElementType::E4m3: limit = 448.0; break;
    case ElementType::E5m2: limit = 57344.0; break;
    case ElementType::Fp16: limit = 65504.0; break;
    default: return 1.0f;
  }
  const double over = 2.0 * deviation / limit;
  return over <= 1.0 ? 1.0f : static_cast<float>(std::exp2(-std::ceil(std::log2(over))));
}

MatmulData outline_of(const MatmulShape& shape) {
  const EpilogueShape& epilogue = shape.epilogue;
  const auto matrix = [&](ElementType type, std::int64_t columns) {
    return HostMatrix(type, Major::K, shape.batch, shape.m, columns, shape.unaligned,
                      shape.spacing);
  };
  const auto vector = [&](bool wanted, ElementType type, std::int64_t count) {
    return wanted ? HostMatrix(type, Major::K, 1, 1, count, shape.unaligned) : HostMatrix();
  };
  MatmulData data;
  data.a = HostMatrix(shape.a_type, shape.a_major, shape.batch, shape.m, shape.k, shape.unaligned,
                      shape.spacing);
  data.b = HostMatrix(shape.b_type, shape.b_major, shape.shared_b ? 1 : shape.batch, shape.n,
                      shape.k, shape.unaligned, shape.spacing);
  if (shape.shared_b) data.b.batch_pitch = 0;
  data.d = matrix(shape.d_type, shape.output_columns());
  if (epilogue.beta != 0.0f) data.source = matrix(epilogue.source_type, shape.output_columns());
  if (epilogue.auxiliary) data.auxiliary = matrix(epilogue.auxiliary_type, shape.n);
  data.column_bias = vector(epilogue.column_bias, epilogue.bias_type, shape.n);
  data.row_bias = vector(epilogue.row_bias, epilogue.bias_type, shape.m);
  data.column_scale = vector(epilogue.column_scale, ElementType::Fp32, shape.n);
  data.row_scale = vector(epilogue.row_scale, ElementType::Fp32, shape.m);
  if (epilogue.amax) data.amax = HostMatrix(ElementType::Fp32, Major::K, 1, 1, 1, false);
  return data;
}

MatmulData make_matmul_data(const MatmulShape& shape, Fill fill, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  MatmulData data = outline_of(shape);
  data.fill = fill;
  MatmulData::for_each(data, [](HostMatrix& matrix, bool) { matrix.allocate(); });
  if (fill == Fill::Position) {
    fill_positions(seed % 2 == 0 ? data.b : data.a, seed);
    fill_selection(seed % 2 == 0 ? data.a : data.b);
  } else {
    const SmallIntegers integers(shape.a_type, shape.k);
    fill_operand(data.a, fill, integers, random);
    fill_operand(data.b, fill, integers, random);
  }
  const SmallIntegers integers(ElementType::Fp32, 1);
  fill_operand(data.source, fill, integers, random);
  fill_operand(data.column_bias, fill, integers, random);
  fill_operand(data.row_bias, fill, integers, random);
  fill_scales(data.column_scale, fill, random);
  fill_scales(data.row_scale, fill, random);
  poison_outputs(data);
  return data;
}

MatmulProblem problem_without_memory(const MatmulShape& shape) {
  MatmulData outline = outline_of(shape);
  return problem_at(outline, shape, [](HostMatrix& matrix) -> void* {
    constexpr std::uintptr_t somewhere = 1 << 20;
    if (!matrix.exists()) return nullptr;
    return reinterpret_cast<void*>(somewhere + matrix.offset());
  });
}

void poison_outputs(MatmulData& data) {
  // Without a batch there is memory around no matrix, too.
  for (HostMatrix* output : {&data.d, &data.auxiliary, &data.amax}) output->poison();
  if (data.amax.exists()) data.amax.set(0, 0, 0, 0.0);
}

MatmulProblem problem_at(MatmulData& data, const MatmulShape& shape,
                         const std::function<void*(HostMatrix&)>& address) {
  const auto operand = [&](HostMatrix& matrix) {
    return MatmulOperand{address(matrix), matrix.pitch, matrix.batch_pitch, matrix.type,
                         matrix.major};
  };
  const auto scales = [&](HostMatrix& matrix) {
    return static_cast<const float*>(address(matrix));
  };
  MatmulProblem problem;
  problem.m = shape.m;
  problem.n = shape.n;
  problem.k = shape.k;
  problem.batch = shape.batch;
  problem.a = operand(data.a);
  problem.b = operand(data.b);
  problem.d = {address(data.d), data.d.pitch, data.d.batch_pitch, data.d.type};
  EpilogueArguments& epilogue = problem.epilogue;
  epilogue.alpha = shape.epilogue.alpha;
  epilogue.beta = shape.epilogue.beta;
  epilogue.output_scale = shape.epilogue.output_scale;
  epilogue.clamp_low = shape.epilogue.clamp_low;
  epilogue.clamp_high = shape.epilogue.clamp_high;
  epilogue.activation = shape.epilogue.activation;
  epilogue.gated = shape.epilogue.gated;
  epilogue.source = address(data.source);
  epilogue.source_pitch = data.source.pitch;
  epilogue.source_batch_pitch = data.source.batch_pitch;
  epilogue.source_type = shape.epilogue.source_type;
  epilogue.bias_type = shape.epilogue.bias_type;
  epilogue.column_bias = address(data.column_bias);
  epilogue.row_bias = address(data.row_bias);
  epilogue.column_scale = scales(data.column_scale);
  epilogue.row_scale = scales(data.row_scale);
  epilogue.auxiliary = address(data.auxiliary);
  epilogue.auxiliary_pitch = data.auxiliary.pitch;
  epilogue.auxiliary_batch_pitch = data.auxiliary.batch_pitch;
  epilogue.auxiliary_type = shape.epilogue.auxiliary_type;
  epilogue.amax = static_cast<std::uint32_t*>(address(data.amax));
  return problem;
}

MatmulProblem problem_on_host(MatmulData& data, const MatmulShape& shape) {
  return problem_at(data, shape, [](HostMatrix& matrix) { return matrix.data(); });
}

bool same_outputs(const MatmulData& first, const MatmulData& second) {
  return first.d.same_bytes(second.d) && first.auxiliary.same_bytes(second.auxiliary) &&
         first.amax.same_bytes(second.amax);
}

}  // namespace tw
