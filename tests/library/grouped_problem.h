// Products in groups with known answers, as the C interface takes them.
#pragma once

#include "src/grouped/task.h"
#include "tests/library/problem.h"

namespace tw::tests {

// `address` tells where a matrix's first element is.
template <class Address>
tw_grouped_problem c_problem(GroupedData& data, const GroupedShape& shape, const Address& address) {
  tw_grouped_problem problem;
  tw_grouped_init(&problem, nullptr);
  problem.matmul = c_problem(data.matmul, shape.matmul, address);
  problem.rows = static_cast<const std::int32_t*>(address(data.rows));
  problem.capacity = shape.capacity;
  if (shape.a_rows > 0) {
    problem.row_index = static_cast<const std::int32_t*>(address(data.index));
    problem.a_rows = shape.a_rows;
  }
  const auto scales = [&](HostMatrix& matrix) -> tw_scales {
    const tw_matrix given = c_matrix(matrix, false);
    return {address(matrix),     matrix.rows,        matrix.columns, given.row_stride,
            given.column_stride, given.batch_stride, given.type};
  };
  if (shape.b_scale_rows > 0) {
    problem.a_scales = scales(data.a_scales);
    problem.b_scales = scales(data.b_scales);
  }
  return problem;
}

inline tw_grouped_problem c_problem_on_host(GroupedData& data, const GroupedShape& shape) {
  return c_problem(data, shape, [](HostMatrix& matrix) { return matrix.data(); });
}

}  // namespace tw::tests
