// Products in groups of rows, each with a B of its own, of device matrices: C++ over the C
// interface of tilewright.h, for C++17 and later. What the library refuses is thrown as tw::Error.
#pragma once

#include "tilewright/matmul.h"

namespace tw {

using GroupedOptions = MatmulOptions;

// A has the rows of all groups, B is a batch with a matrix for each. `rows` are on the device: the
// row behind each group's last; with a capacity, how many of each group's rows are there.
inline tw_grouped_problem grouped_problem(const MatrixView& a, const MatrixView& b,
                                          const std::int32_t* rows, const MatrixView& d,
                                          const GroupedOptions& options = {},
                                          std::int64_t capacity = 0) {
  tw_grouped_problem problem;
  tw_grouped_init(&problem, nullptr);
  problem.matmul = matmul_problem(a, b.batched(1, 0), d, options);
  problem.matmul.b = b;
  problem.matmul.batch = b.batch;
  problem.rows = rows;
  problem.capacity = capacity;
  return problem;
}

// Row i of D is made of row row_index[i] of A, or of zeros where A has no such row.
inline tw_grouped_problem gathered_problem(const MatrixView& a, const std::int32_t* row_index,
                                           const MatrixView& b, const std::int32_t* rows,
                                           const MatrixView& d, const GroupedOptions& options = {},
                                           std::int64_t capacity = 0) {
  MatrixView gathered = a;
  gathered.rows = d.rows;
  tw_grouped_problem problem = grouped_problem(gathered, b, rows, d, options, capacity);
  problem.row_index = row_index;
  problem.a_rows = a.rows;
  return problem;
}

// On `stream`, a cudaStream_t.
inline void matmul_grouped(void* stream, const tw_grouped_problem& problem,
                           const GroupedOptions& options = {}) {
  detail::must(
      tw_grouped(&problem, &options.choice, options.workspace, options.workspace_bytes, stream));
}

// On the virtual GPU, in host memory; returns when D is there.
inline void matmul_grouped_on_virtual_gpu(const tw_grouped_problem& problem,
                                          const GroupedOptions& options = {}) {
  detail::must(tw_grouped_simulate(&problem, &options.choice));
}

using GroupedPlan = detail::Plan<tw_grouped_problem>;

}  // namespace tw
