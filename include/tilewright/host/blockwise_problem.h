// Blockwise FP8, as a caller states it, and what it must satisfy.
#pragma once

#include <algorithm>

#include "tilewright/host/matmul_check.h"

namespace tw {

// (rows,blocks of 128 of k) float32: row-major is Major::K, column-major Major::MN.
struct ScaleTensor {
  MatmulOperand tensor;
  std::int64_t rows = 0;
  std::int64_t k_blocks = 0;
};

struct BlockwiseProblem {
  MatmulProblem matmul;
  ScaleTensor a_scales;  // one for each row of A
  ScaleTensor b_scales;  // one for each row of B, or for each 128
};

namespace detail {

inline Status check_scales(const std::string& name, const ScaleTensor& given, std::int64_t extent,
                           std::int64_t rows_of_scale, const MatmulProblem& problem,
                           const std::string& otherwise) {
  const std::int64_t rows = (extent - 1) / rows_of_scale + 1, blocks = (problem.k - 1) / 128 + 1;
  const auto shape = [](std::int64_t m, std::int64_t k) {
    return std::to_string(m) + " x " + std::to_string(k);
  };
  if (given.rows != rows || given.k_blocks != blocks) {
    return Status::refused("The " + name + " are " + shape(given.rows, given.k_blocks) +
                           ", but must be " + shape(rows, blocks) + ": one for each " +
                           (rows_of_scale == 1 ? "row" : "128 rows") + " and each 128 of k" +
                           otherwise + ".");
  }
  const auto& [data, pitch, batch_pitch, type, major] = given.tensor;
  if (type != ElementType::Fp32) {
    return Status::refused("The " + name + " are " + name_of(type) + ", but must be fp32.");
  }
  const std::int64_t lines = major == Major::K ? rows : blocks;
  if (static_cast<double>(lines) * static_cast<double>(pitch) +
          static_cast<double>(problem.batch) * static_cast<double>(batch_pitch) >=
      0x1p31) {
    return Status::refused("The " + name + ", with a pitch of " + std::to_string(pitch) +
                           " elements, must reach over less than 2^31 elements.");
  }
  return check_matrix("the " + name, data, lines, major == Major::K ? blocks : rows, pitch,
                      problem.batch, batch_pitch, type);
}

}  // namespace detail

// `b_scale_rows`: of B, that share a scale: 1, 128, or 0 for either, as their number tells.
inline Status check(const BlockwiseProblem& problem, unsigned b_scale_rows = 0) {
  const MatmulProblem& matmul = problem.matmul;
  Status status = check(matmul);
  if (!status.is_good() || std::min({matmul.m, matmul.n, matmul.k, matmul.batch}) == 0) {
    return status;
  }
  status = detail::check_scales("scales of A", problem.a_scales, matmul.m, 1, matmul, "");
  if (!status.is_good()) return status;
  const bool either = b_scale_rows == 0;
  if (either) b_scale_rows = problem.b_scales.rows == matmul.n ? 1 : 128;
  return detail::check_scales("scales of B", problem.b_scales, matmul.n, b_scale_rows, matmul,
                              either && b_scale_rows == 128
                                  ? ", or have a row for each of B's " + std::to_string(matmul.n)
                                  : "");
}

}  // namespace tw
