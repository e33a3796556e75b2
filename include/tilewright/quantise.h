// Elements and scales of blocks for FP8 products, of device matrices: C++ over the C interface of
// tilewright.h, for C++17 and later. What the library refuses is thrown as tw::Error.
#pragma once

#include "tilewright/matmul.h"

namespace tw {

struct QuantiseOptions : MatmulOptions {
  bool powers_of_two = false;  // scales are rounded up to such
};

// Elements and source are of one shape, rows contiguous; scales have a row for each of theirs, or
// for each 128, and a column for each 128 of k, rows or columns contiguous.
inline tw_quantise_problem quantise_problem(const MatrixView& source, const MatrixView& elements,
                                            const MatrixView& scales,
                                            const QuantiseOptions& options = {}) {
  tw_quantise_problem problem;
  tw_quantise_init(&problem, nullptr);
  problem.m = source.rows;
  problem.k = source.columns;
  problem.batch = source.batch;
  problem.scale_rows = scales.rows == source.rows ? 1 : 128;
  problem.powers_of_two = options.powers_of_two;
  const auto blocks = [](std::int64_t extent) { return (extent + 127) / 128; };
  detail::must_agree("The number of the elements' rows", elements.rows, "that of the source's",
                     source.rows);
  detail::must_agree("The number of the elements' columns", elements.columns,
                     "that of the source's", source.columns);
  if (problem.scale_rows == 128) {
    detail::must_agree("The number of the scales' rows", scales.rows,
                       "a row for each 128 of the source's", blocks(source.rows));
  }
  detail::must_agree("The number of the scales' columns", scales.columns,
                     "a column for each 128 of the source's", blocks(source.columns));
  detail::must_agree("The batch of the elements", elements.batch, "that of the source",
                     source.batch);
  detail::must_agree("The batch of the scales", scales.batch, "that of the source", source.batch);
  problem.source = source;
  problem.elements = elements;
  problem.scales = scales;
  return problem;
}

// On `stream`, a cudaStream_t. No workspace is needed.
inline void quantise_blocks(void* stream, const MatrixView& source, const MatrixView& elements,
                            const MatrixView& scales, const QuantiseOptions& options = {}) {
  const tw_quantise_problem problem = quantise_problem(source, elements, scales, options);
  detail::must(tw_quantise(&problem, &options.choice, nullptr, 0, stream));
}

// On the virtual GPU, in host memory; returns when elements and scales are there.
inline void quantise_blocks_on_virtual_gpu(const MatrixView& source, const MatrixView& elements,
                                           const MatrixView& scales,
                                           const QuantiseOptions& options = {}) {
  const tw_quantise_problem problem = quantise_problem(source, elements, scales, options);
  detail::must(tw_quantise_simulate(&problem, &options.choice));
}

using QuantisePlan = detail::Plan<tw_quantise_problem>;

}  // namespace tw
