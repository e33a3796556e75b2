// Convolutions with known answers, as the C interface takes them.
#pragma once

#include "src/conv2d/task.h"
#include "tests/library/problem.h"

namespace tw::tests {

// `address` tells where a matrix's first element is.
template <class Address>
tw_conv2d_problem c_problem(MatmulData& data, const Conv2dShape& shape, const Address& address) {
  const auto axis = [](const Conv2dAxis& given) -> tw_conv2d_axis {
    return {given.extent,   given.filter,  given.stride,
            given.dilation, given.pad_low, given.pad_high};
  };
  tw_conv2d_problem problem;
  tw_conv2d_init(&problem, nullptr);
  problem.direction = static_cast<tw_direction>(shape.direction);
  problem.n = shape.n;
  problem.c = shape.c;
  problem.k = shape.k;
  problem.groups = shape.groups;
  problem.h = axis(shape.h);
  problem.w = axis(shape.w);
  problem.depth = axis(shape.depth);
  problem.image = address(data.a);
  problem.filter = address(data.b);
  problem.d = address(data.d);
  problem.type = static_cast<tw_type>(shape.type);
  problem.d_type = static_cast<tw_type>(shape.d_type);
  problem.epilogue = c_problem(data, shape.as_matmul(), address).epilogue;
  return problem;
}

inline tw_conv2d_problem c_problem_on_host(MatmulData& data, const Conv2dShape& shape) {
  return c_problem(data, shape, [](HostMatrix& matrix) { return matrix.data(); });
}

}  // namespace tw::tests
