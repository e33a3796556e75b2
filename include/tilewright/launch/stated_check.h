// What a product must satisfy that is stated as a MatmulProblem, by no description.
#pragma once

#include <utility>

#include "tilewright/launch/matmul_check.h"

namespace tw {

namespace detail {

inline Status check_extents(const MatmulProblem& problem) {
  constexpr std::int64_t limit = std::int64_t{1} << 31;
  const std::pair<const char*, std::int64_t> extents[] = {
      {"m", problem.m}, {"n", problem.n}, {"k", problem.k}, {"batch", problem.batch}};
  for (const auto& [name, value] : extents) {
    if (value < 0 || value >= limit - 256) {
      return Status::refused(std::string(name) + " = " + std::to_string(value) +
                             " must be at least 0 and below 2^31 - 256.");
    }
  }
  return Status::good();
}

}  // namespace detail

inline Status check(const MatmulProblem& problem) {
  if (Status extents = detail::check_extents(problem); !extents.is_good()) return extents;
  if (problem.m == 0 || problem.n == 0 || problem.batch == 0) return Status::good();
  if (problem.k > 0) {
    const auto operand = [&](const char* name, const MatmulOperand& given, std::int64_t rows) {
      const bool by_k = given.major == Major::K;
      return detail::check_matrix(name, given.data, by_k ? rows : problem.k,
                                  by_k ? problem.k : rows, given.pitch, problem.batch,
                                  given.batch_pitch, given.type);
    };
    if (Status a = operand("A", problem.a, problem.m); !a.is_good()) return a;
    if (Status b = operand("B", problem.b, problem.n); !b.is_good()) return b;
  }
  const std::int64_t columns = problem.epilogue.gated ? problem.n / 2 : problem.n;
  Status d = detail::check_matrix("D", problem.d.data, problem.m, columns, problem.d.pitch,
                                  problem.batch, problem.d.batch_pitch, problem.d.type);
  if (!d.is_good()) return d;
  Status apart = detail::check_output("D", problem.m, problem.d.pitch, columns, problem.batch,
                                      problem.d.batch_pitch);
  if (!apart.is_good()) return apart;
  return detail::check_epilogue(problem, columns);
}

}  // namespace tw
