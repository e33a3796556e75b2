// Blockwise FP8, as a caller states it, what it must satisfy, and its plan: that of the matmul with
// the views of its scales.
#pragma once

#include "tilewright/family/blockwise_fp8.h"
#include "tilewright/host/matmul.h"

namespace tw {

// (rows,blocks of 128 of k), float32; strides in elements, one of the two is 1.
struct ScaleTensor {
  const void* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t k_blocks = 0;
  std::int64_t row_stride = 0;
  std::int64_t k_stride = 0;
  std::int64_t batch_stride = 0;
  ElementType type = ElementType::Fp32;
};

struct BlockwiseProblem {
  MatmulProblem matmul;
  ScaleTensor a_scales;  // one for each row of A
  ScaleTensor b_scales;  // one for each row of B, or for each 128
};

namespace detail {

inline Status check_scales(const char* name, const ScaleTensor& given, std::int64_t extent,
                           std::int64_t rows_of_scale, const MatmulProblem& problem) {
  const std::int64_t rows = (extent - 1) / rows_of_scale + 1, blocks = (problem.k - 1) / 128 + 1;
  const auto shape = [](std::int64_t m, std::int64_t k) {
    return std::to_string(m) + " x " + std::to_string(k);
  };
  const auto refused = [&](const std::string& is, const std::string& expected) {
    return Status::refused(std::string("The scales of ") + name + " " + is + ", but must " +
                           expected + ".");
  };
  if (given.type != ElementType::Fp32) {
    return refused(std::string("are ") + name_of(given.type), "be fp32");
  }
  if (given.rows != rows || given.k_blocks != blocks) {
    const std::string each = rows_of_scale == 1 ? "row" : std::to_string(rows_of_scale) + " rows";
    return refused("are " + shape(given.rows, given.k_blocks),
                   "be " + shape(rows, blocks) + ": one for each " + each + " and each 128 of k");
  }
  // A stride along one element means nothing.
  const auto is_line = [](std::int64_t count, std::int64_t stride) {
    return count == 1 || stride == 1;
  };
  const bool by_row =
      is_line(blocks, given.k_stride) && (rows == 1 || given.row_stride >= blocks);
  const bool by_column =
      is_line(rows, given.row_stride) && (blocks == 1 || given.k_stride >= rows);
  if (!by_row && !by_column) {
    return refused("have strides of " + std::to_string(given.row_stride) + " along the rows and " +
                       std::to_string(given.k_stride) + " along k",
                   "have at least " + std::to_string(blocks) + " and 1 (row-major), or 1 and at " +
                       "least " + std::to_string(rows) + " (column-major)");
  }
  const std::int64_t last = (problem.batch - 1) * given.batch_stride +
                            (rows - 1) * given.row_stride + (blocks - 1) * given.k_stride;
  if (last >= std::int64_t{1} << 31) {
    return refused("reach over " + std::to_string(last + 1) + " elements", "end below 2^31");
  }
  return check_matrix(std::string("the scales of ") + name, given.data, by_row ? rows : blocks,
                      by_row ? blocks : rows, by_row ? given.row_stride : given.k_stride,
                      problem.batch, given.batch_stride, given.type);
}

}  // namespace detail

// `b_scale_rows`: of B, that share a scale.
inline Status check(const BlockwiseProblem& problem, unsigned b_scale_rows) {
  const MatmulProblem& matmul = problem.matmul;
  if (Status status = check(matmul); !status.is_good()) return status;
  if (std::min({matmul.m, matmul.n, matmul.k, matmul.batch}) == 0) return Status::good();
  Status a = detail::check_scales("A", problem.a_scales, matmul.m, 1, matmul);
  return a.is_good() ? detail::check_scales("B", problem.b_scales, matmul.n, b_scale_rows, matmul)
                     : a;
}

template <class Parts, class Encode>
Status plan(typename kernel::WarpSpecialized<Parts>::Params& params, MatmulGrid& grid,
            const BlockwiseProblem& problem, const MatmulOrder& order, unsigned max_clusters,
            const Workspace& workspace, const Encode& encode) {
  const auto view = [](const ScaleTensor& given) {
    return ScaleView{static_cast<const float*>(given.data), static_cast<int>(given.row_stride),
                     static_cast<int>(given.k_stride), static_cast<int>(given.batch_stride),
                     static_cast<int>(given.rows)};
  };
  params.side = {view(problem.a_scales), view(problem.b_scales)};
  return plan<Parts>(params, grid, problem.matmul, order, max_clusters, workspace, encode);
}

}  // namespace tw
