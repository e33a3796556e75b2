// Matrices to quantise with known answers, as the C interface takes them.
#pragma once

#include "src/quantise/task.h"
#include "tests/library/problem.h"

namespace tw::tests {

// `address` tells where a matrix's first element is.
template <class Address>
tw_quantise_problem c_problem(QuantiseData& data, const QuantiseShape& shape,
                              const Address& address) {
  tw_quantise_problem problem;
  tw_quantise_init(&problem, nullptr);
  problem.m = shape.m;
  problem.k = shape.k;
  problem.batch = shape.batch;
  problem.scale_rows = shape.scale_rows;
  problem.powers_of_two = shape.rule == BlockScale::power_of_two;
  const auto placed = [&](HostMatrix& matrix) {
    tw_matrix result = c_matrix(matrix, false);
    if (matrix.exists()) result.data = address(matrix);
    result.type = static_cast<tw_type>(matrix.type);
    return result;
  };
  problem.source = placed(data.source);
  problem.elements = placed(data.elements);
  problem.scales = placed(data.scales);
  return problem;
}

inline tw_quantise_problem c_problem_on_host(QuantiseData& data, const QuantiseShape& shape) {
  return c_problem(data, shape, [](HostMatrix& matrix) { return matrix.data(); });
}

}  // namespace tw::tests
