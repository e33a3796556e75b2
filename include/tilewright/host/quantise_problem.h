// Matrices to be quantised for blockwise FP8, as a caller states them, and what they must satisfy.
#pragma once

#include <cstdint>
#include <string>

#include "tilewright/host/matmul_check.h"
#include "tilewright/io/major.h"
#include "tilewright/number/block_scale.h"
#include "tilewright/number/element_type.h"

namespace tw {

// Source and elements are (m,k), row-major; scales are (m / scale_rows,k / 128), rounded up: one of
// every scale_rows rows and 128 of k. Pitches count elements. Lines of scales run along k with
// Major::K, along m with Major::MN. All of that `batch` times.
struct QuantiseProblem {
  std::int64_t m = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  const void* source = nullptr;
  std::int64_t source_pitch = 0;
  std::int64_t source_batch_pitch = 0;
  ElementType source_type = ElementType::Bf16;
  void* elements = nullptr;
  std::int64_t elements_pitch = 0;
  std::int64_t elements_batch_pitch = 0;
  ElementType element_type = ElementType::E4m3;
  float* scales = nullptr;
  std::int64_t scales_pitch = 0;
  std::int64_t scales_batch_pitch = 0;
  Major scales_major = Major::K;
  std::int64_t scale_rows = 1;
  BlockScale rule = BlockScale::real;

  static constexpr std::int64_t block = 128;
  std::int64_t k_blocks() const { return (k + block - 1) / block; }
  std::int64_t scale_lines() const { return (m + scale_rows - 1) / scale_rows; }
  bool is_empty() const { return m == 0 || k == 0 || batch == 0; }
};

inline Status check(const QuantiseProblem& problem) {
  constexpr std::int64_t limit = (std::int64_t{1} << 31) - 256;
  for (const auto& [name, value] :
       {std::pair("m", problem.m), {"k", problem.k}, {"batch", problem.batch}}) {
    if (value < 0 || value >= limit) {
      return Status::refused(std::string(name) + " = " + std::to_string(value) +
                             " must be at least 0 and below 2^31 - 256.");
    }
  }
  if (problem.scale_rows != 1 && problem.scale_rows != 128) {
    return Status::refused("A scale is of " + std::to_string(problem.scale_rows) +
                           " rows, but must be of 1 or of 128.");
  }
  if (!detail::is_side_type(problem.source_type)) {
    return Status::refused(std::string("The source has type ") + name_of(problem.source_type) +
                           ", but must be bf16, fp16 or fp32.");
  }
  if (problem.element_type != ElementType::E4m3 && problem.element_type != ElementType::E5m2) {
    return Status::refused(std::string("The elements have type ") + name_of(problem.element_type) +
                           ", but must be e4m3 or e5m2.");
  }
  if (problem.is_empty()) return Status::good();
  const auto matrix = [&](const char* name, const void* data, std::int64_t lines,
                          std::int64_t length, std::int64_t pitch, std::int64_t batch_pitch,
                          ElementType type) {
    return detail::check_matrix(name, data, lines, length, pitch, problem.batch, batch_pitch, type);
  };
  Status status = matrix("the source", problem.source, problem.m, problem.k, problem.source_pitch,
                         problem.source_batch_pitch, problem.source_type);
  if (!status.is_good()) return status;
  status = matrix("the elements", problem.elements, problem.m, problem.k, problem.elements_pitch,
                  problem.elements_batch_pitch, problem.element_type);
  if (!status.is_good()) return status;
  status = detail::check_output("the elements", problem.m, problem.elements_pitch, problem.k,
                                problem.batch, problem.elements_batch_pitch);
  if (!status.is_good()) return status;
  const bool by_k = problem.scales_major == Major::K;
  const std::int64_t pitch = problem.scales_pitch, batch_pitch = problem.scales_batch_pitch;
  const std::int64_t lines = by_k ? problem.scale_lines() : problem.k_blocks();
  const std::int64_t length = by_k ? problem.k_blocks() : problem.scale_lines();
  status =
      matrix("the scales", problem.scales, lines, length, pitch, batch_pitch, ElementType::Fp32);
  if (!status.is_good()) return status;
  // Lines of all matrices may lie side by side, as those of one matrix that has all rows.
  const bool side_by_side =
      batch_pitch >= length && pitch >= (problem.batch - 1) * batch_pitch + length;
  if (side_by_side) return status;
  return detail::check_output("the scales", lines, pitch, length, problem.batch, batch_pitch);
}

}  // namespace tw
