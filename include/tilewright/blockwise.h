// FP8 products with scales of blocks of 128 of k, of device matrices: C++ over the C interface of
// tilewright.h, for C++17 and later. What the library refuses is thrown as tw::Error.
#pragma once

#include "tilewright/matmul.h"

namespace tw {

// Scales as a matrix: of A, a row for each of A's; of B, a row for each of B's columns, or for each
// 128 of them; a column for each 128 of k. float32, rows or columns contiguous.
inline tw_scales scales_of(const MatrixView& view) {
  return {view.data,       view.rows,          view.columns,
          view.row_stride, view.column_stride, view.batch > 1 ? view.batch_stride : 0,
          view.type};
}

using BlockwiseOptions = MatmulOptions;

inline tw_blockwise_problem blockwise_problem(const MatrixView& a, const MatrixView& b,
                                              const MatrixView& a_scales,
                                              const MatrixView& b_scales, const MatrixView& d,
                                              const BlockwiseOptions& options = {}) {
  tw_blockwise_problem problem;
  tw_blockwise_init(&problem, nullptr);
  problem.matmul = matmul_problem(a, b, d, options);
  problem.a_scales = scales_of(a_scales);
  problem.b_scales = scales_of(b_scales);
  return problem;
}

// On `stream`, a cudaStream_t.
inline void matmul_blockwise(void* stream, const MatrixView& a, const MatrixView& b,
                             const MatrixView& a_scales, const MatrixView& b_scales,
                             const MatrixView& d, const BlockwiseOptions& options = {}) {
  const tw_blockwise_problem problem = blockwise_problem(a, b, a_scales, b_scales, d, options);
  detail::must(
      tw_blockwise(&problem, &options.choice, options.workspace, options.workspace_bytes, stream));
}

// What options.workspace must have.
inline std::size_t blockwise_workspace_bytes(const tw_blockwise_problem& problem,
                                             const BlockwiseOptions& options = {}) {
  std::size_t bytes = 0;
  detail::must(tw_blockwise_workspace_size(&bytes, &problem, &options.choice));
  return bytes;
}

// On the virtual GPU, in host memory; returns when D is there.
inline void matmul_blockwise_on_virtual_gpu(const MatrixView& a, const MatrixView& b,
                                            const MatrixView& a_scales, const MatrixView& b_scales,
                                            const MatrixView& d,
                                            const BlockwiseOptions& options = {}) {
  const tw_blockwise_problem problem = blockwise_problem(a, b, a_scales, b_scales, d, options);
  detail::must(tw_blockwise_simulate(&problem, &options.choice));
}

using BlockwisePlan = detail::Plan<tw_blockwise_problem>;

}  // namespace tw
