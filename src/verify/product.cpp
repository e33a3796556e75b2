#include "src/verify/product.h"

#include <cmath>
#include <utility>

#include "src/verify/parallel.h"

namespace tw {

void set_epilogue(tw_epilogue& epilogue, const EpilogueShape& shape) {
  static float somewhere = 0.0f;
  const auto if_there = [](bool present) { return present ? &somewhere : nullptr; };
  epilogue = {};
  epilogue.alpha = shape.alpha;
  epilogue.beta = shape.beta;
  epilogue.output_scale = shape.output_scale;
  epilogue.clamp_low = shape.clamp_low;
  epilogue.clamp_high = shape.clamp_high;
  epilogue.activation = static_cast<tw_activation>(shape.activation);
  epilogue.gated = shape.gated ? 1 : 0;
  epilogue.source = {if_there(shape.beta != 0.0f), 0, 1, 0,
                     static_cast<tw_type>(shape.source_type)};
  epilogue.bias_type = static_cast<tw_type>(shape.bias_type);
  epilogue.column_bias = if_there(shape.column_bias);
  epilogue.row_bias = if_there(shape.row_bias);
  epilogue.column_scale = if_there(shape.column_scale);
  epilogue.row_scale = if_there(shape.row_scale);
  epilogue.auxiliary = {if_there(shape.auxiliary), 0, 1, 0,
                        static_cast<tw_type>(shape.auxiliary_type)};
  epilogue.amax = if_there(shape.amax);
}

MatmulShape product_shape(const Case& of) {
  const Description& description = *of.trial->description;
  const ProductField& product = *description.product;
  const void* const problem = of.problem.data();
  const TensorExtents sums = product.sums(problem);
  const tw_matrix a = description.tensors[product.a].get(problem),
                  b = description.tensors[product.b].get(problem),
                  d = description.tensors[product.d].get(problem);
  MatmulShape shape;
  shape.m = sums.rows;
  shape.n = sums.columns;
  shape.k = product.k(problem);
  shape.batch = sums.batch;
  shape.a_type = static_cast<ElementType>(a.type);
  shape.b_type = static_cast<ElementType>(b.type);
  shape.d_type = static_cast<ElementType>(d.type);
  shape.a_major = a.column_stride == 1 ? Major::K : Major::MN;
  shape.b_major = b.column_stride == 1 ? Major::MN : Major::K;
  shape.shared_b = of.shared_b;
  shape.unaligned = of.unaligned;
  shape.spacing = of.spacing;
  shape.epilogue = shape_of(product.epilogue(problem));
  return shape;
}

bool has_batches_of_b(const Case& of) {
  const Description& description = *of.trial->description;
  return description.product != nullptr &&
         description.tensors[description.product->b].extents(of.problem.data()).batch > 1;
}

void adopt_types(void* problem, const Description& description, const Instance& instance,
                 const IsGiven& is_given) {
  const MatmulConfig& config = config_of(instance);
  const auto adopt = [&](unsigned index, const char* option, ElementType type) {
    if (is_given(option)) return;
    tw_matrix matrix = description.tensors[index].get(problem);
    matrix.type = static_cast<tw_type>(type);
    description.tensors[index].set(problem, matrix);
  };
  adopt(description.product->a, "a_type", config.tiling.a_type);
  adopt(description.product->b, "b_type", config.tiling.b_type);
  adopt(description.product->d, "d_type", config.d_type);
}

MatmulSums sums_of_lines(const std::vector<ProductLine>& lines, const HostMatrix& a,
                         const HostMatrix& b, const HostMatrix& a_scales,
                         const HostMatrix& b_scales) {
  constexpr std::int64_t block = 128;
  const std::int64_t k = a.columns, n = b.columns;
  const std::int64_t b_scale_rows = b_scales.rows == n ? 1 : block;
  const auto b_at = [&](std::int64_t matrix, std::int64_t i, std::int64_t column) {
    const double value = b.at(matrix, i, column);
    if (!b_scales.exists()) return value;
    return value * b_scales.at(matrix, column / b_scale_rows, i / block);
  };
  const auto a_at = [&](const ProductLine& line, std::int64_t i) {
    const double value = a.at(line.a_matrix, line.a_row, i);
    if (!a_scales.exists()) return value;
    return value * a_scales.at(line.a_matrix, line.a_row, i / block);
  };
  MatmulSums sums;
  const auto count = static_cast<std::int64_t>(lines.size());
  sums.value.resize(static_cast<std::size_t>(count * n));
  sums.magnitude.resize(sums.value.size());
  in_parallel(count, static_cast<double>(count * n * k), [&](std::int64_t begin, std::int64_t end) {
    std::int64_t known = -1;
    std::vector<double> of_b(static_cast<std::size_t>(k * n));  // (k,n) of the matrix that is known
    for (std::int64_t row = begin; row < end; ++row) {
      const ProductLine& line = lines[row];
      if (line.a_row < 0) continue;
      for (std::int64_t at = 0; at < k * n && line.b_matrix != known; ++at) {
        of_b[at] = b_at(line.b_matrix, at / n, at % n);
      }
      known = line.b_matrix;
      for (std::int64_t i = 0; i < k; ++i) {
        const double factor = a_at(line, i);
        for (std::int64_t column = 0; column < n; ++column) {
          const double product = factor * of_b[i * n + column];
          sums.value[row * n + column] += product;
          sums.magnitude[row * n + column] += std::abs(product);
        }
      }
    }
  });
  return sums;
}

HostMatrix transposed(HostMatrix matrix) {
  std::swap(matrix.rows, matrix.columns);
  matrix.major = matrix.major == Major::K ? Major::MN : Major::K;
  return matrix;
}

std::vector<HostMatrix> outline_of_epilogue(const MatmulShape& shape) {
  const MatmulData outline = outline_of(shape);
  std::vector<HostMatrix> tensors;
  for (const auto part : epilogue_tensors) tensors.push_back(outline.*part);
  return tensors;
}

void place_epilogue(tw_epilogue& epilogue, const HostMatrix* tensors,
                    const std::function<void*(std::size_t tensor)>& address) {
  std::size_t next = 0;
  const auto vector = [&] {
    const std::size_t i = next++;
    return tensors[i].exists() ? address(i) : nullptr;
  };
  const auto matrix = [&](tw_matrix& given) {
    const HostMatrix& tensor = tensors[next];
    given = {vector(), tensor.pitch, 1, tensor.batch_pitch, given.type};
  };
  matrix(epilogue.source);
  epilogue.column_bias = vector();
  epilogue.row_bias = vector();
  epilogue.column_scale = static_cast<const float*>(vector());
  epilogue.row_scale = static_cast<const float*>(vector());
  matrix(epilogue.auxiliary);
  epilogue.amax = static_cast<float*>(vector());
}

MatmulData product_data(const HostProblem& from, Fill fill) {
  const ProductField& product = *from.description().product;
  MatmulData data;
  data.fill = fill;
  data.a = from.tensor(product.a);
  data.b = transposed(from.tensor(product.b));
  data.d = from.tensor(product.d);
  std::size_t next = from.description().tensors.size();
  for (const auto part : epilogue_tensors) data.*part = from.tensor(next++);
  return data;
}

void take_product(HostProblem& to, MatmulData&& data) {
  const ProductField& product = *to.description().product;
  to.tensor(product.a) = std::move(data.a);
  to.tensor(product.b) = transposed(std::move(data.b));
  to.tensor(product.d) = std::move(data.d);
  std::size_t next = to.description().tensors.size();
  for (const auto part : epilogue_tensors) to.tensor(next++) = std::move(data.*part);
}

Comparison ProductAnswer::compare(const HostProblem& ran) const {
  MatmulData data = product_data(ran, fill_);
  if (judge_) judge_(data);
  return tw::compare(data, reference_);
}

}  // namespace tw
