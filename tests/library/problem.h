// Problems with known answers, as the C interface takes them.
#pragma once

#include <string>

#include "src/verify/compare.h"
#include "tilewright.h"

namespace tw::tests {

// States `matrix`, rows by columns like HostMatrix; B of the C interface is the transpose.
inline tw_matrix c_matrix(HostMatrix& matrix, bool transposed) {
  tw_matrix result = {};
  if (!matrix.exists()) return result;
  const bool by_rows = (matrix.major == Major::K) != transposed;
  result.data = matrix.data();
  result.row_stride = by_rows ? matrix.pitch : 1;
  result.column_stride = by_rows ? 1 : matrix.pitch;
  result.batch_stride = matrix.batch_pitch;
  result.type = static_cast<tw_type>(matrix.type);
  return result;
}

// `address` tells where a matrix's first element is, as problem_at of src/verify/data.h.
template <class Address>
tw_matmul_problem c_problem(MatmulData& data, const MatmulShape& shape, const Address& address) {
  tw_matmul_problem problem;
  tw_matmul_init(&problem, nullptr);
  problem.m = shape.m;
  problem.n = shape.n;
  problem.k = shape.k;
  problem.batch = shape.batch;
  const auto placed = [&](HostMatrix& matrix, bool transposed) {
    tw_matrix result = c_matrix(matrix, transposed);
    if (matrix.exists()) result.data = address(matrix);
    return result;
  };
  const auto vector = [&](HostMatrix& matrix) {
    return matrix.exists() ? address(matrix) : nullptr;
  };
  problem.a = placed(data.a, false);
  problem.b = placed(data.b, true);
  problem.d = placed(data.d, false);
  tw_epilogue& epilogue = problem.epilogue;
  epilogue.alpha = shape.epilogue.alpha;
  epilogue.beta = shape.epilogue.beta;
  epilogue.output_scale = shape.epilogue.output_scale;
  epilogue.clamp_low = shape.epilogue.clamp_low;
  epilogue.clamp_high = shape.epilogue.clamp_high;
  epilogue.activation = static_cast<tw_activation>(shape.epilogue.activation);
  epilogue.gated = shape.epilogue.gated;
  epilogue.source = placed(data.source, false);
  epilogue.bias_type = static_cast<tw_type>(shape.epilogue.bias_type);
  epilogue.column_bias = vector(data.column_bias);
  epilogue.row_bias = vector(data.row_bias);
  epilogue.column_scale = static_cast<const float*>(vector(data.column_scale));
  epilogue.row_scale = static_cast<const float*>(vector(data.row_scale));
  epilogue.auxiliary = placed(data.auxiliary, false);
  epilogue.amax = static_cast<float*>(vector(data.amax));
  return problem;
}

inline tw_matmul_problem c_problem_on_host(MatmulData& data, const MatmulShape& shape) {
  return c_problem(data, shape, [](HostMatrix& matrix) { return matrix.data(); });
}

}  // namespace tw::tests
