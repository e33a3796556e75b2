// Blockwise FP8 products with known answers, as the C interface takes them.
#pragma once

#include "src/blockwise_fp8/task.h"
#include "tests/library/problem.h"

namespace tw::tests {

// `address` tells where a matrix's first element is.
template <class Address>
tw_blockwise_problem c_problem(BlockwiseData& data, const BlockwiseShape& shape,
                               const Address& address) {
  tw_blockwise_problem problem;
  tw_blockwise_init(&problem, nullptr);
  problem.matmul = c_problem(data.matmul, shape.matmul, address);
  const auto scales = [&](HostMatrix& matrix) -> tw_scales {
    const tw_matrix given = c_matrix(matrix, false);
    return {matrix.exists() ? address(matrix) : nullptr,
            matrix.rows,
            matrix.columns,
            given.row_stride,
            given.column_stride,
            given.batch_stride,
            given.type};
  };
  problem.a_scales = scales(data.a_scales);
  problem.b_scales = scales(data.b_scales);
  return problem;
}

inline tw_blockwise_problem c_problem_on_host(BlockwiseData& data, const BlockwiseShape& shape) {
  return c_problem(data, shape, [](HostMatrix& matrix) { return matrix.data(); });
}

}  // namespace tw::tests
