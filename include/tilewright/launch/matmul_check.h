// What a matmul must satisfy, wherever it runs: every refusal is a sentence with the number and the
// rule.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "tilewright/base/shortest.h"
#include "tilewright/base/status.h"
#include "tilewright/launch/description.h"
#include "tilewright/launch/matmul_problem.h"
#include "tilewright/launch/product_facts.h"

namespace tw {

namespace detail {

// `lines` lines of `length` elements each, `pitch` apart; `batch` such matrices.
inline Status check_matrix(const std::string& name, const void* data, std::int64_t lines,
                           std::int64_t length, std::int64_t pitch, std::int64_t batch,
                           std::int64_t batch_pitch, ElementType type) {
  constexpr std::int64_t pitch_limit = std::int64_t{1} << 40;
  if (data == nullptr) return Status::refused("The address of " + name + " is null.");
  if (reinterpret_cast<std::uintptr_t>(data) % bytes_of(type) != 0) {
    return Status::refused("The address of " + name + " is not a multiple of " +
                           std::to_string(bytes_of(type)) + " bytes, its element's size.");
  }
  if (lines > 1 && pitch < length) {
    return Status::refused("The pitch of " + name + " is " + std::to_string(pitch) +
                           " elements, but its lines have " + std::to_string(length) + ".");
  }
  if (pitch >= pitch_limit / bytes_of(type) || batch_pitch >= pitch_limit / bytes_of(type)) {
    return Status::refused("The pitch of " + name + " is " +
                           std::to_string(std::max(pitch, batch_pitch)) +
                           " elements, but must be below 2^40 bytes.");
  }
  if (batch > 1 && batch_pitch < 0) {
    return Status::refused("The batch pitch of " + name + " is " + std::to_string(batch_pitch) +
                           " elements, but must not be negative.");
  }
  return Status::good();
}

inline Status check_output(const std::string& name, std::int64_t m, std::int64_t pitch,
                           std::int64_t columns, std::int64_t batch, std::int64_t batch_pitch) {
  // In double: long lines times many rows do not fit 64 bits.
  const double taken =
      static_cast<double>(m - 1) * static_cast<double>(pitch) + static_cast<double>(columns);
  if (batch > 1 && static_cast<double>(batch_pitch) < taken) {
    return Status::refused("The batch pitch of " + name + " is " + std::to_string(batch_pitch) +
                           " elements, but a matrix takes " +
                           std::to_string(static_cast<std::int64_t>(std::min(taken, 0x1p62))) +
                           ": matrices of the batch would overlap.");
  }
  return Status::good();
}

inline bool is_side_type(ElementType type) {
  return type == ElementType::Bf16 || type == ElementType::Fp16 || type == ElementType::Fp32;
}

inline Status check_epilogue(const MatmulProblem& problem, std::int64_t columns) {
  const EpilogueArguments& epilogue = problem.epilogue;
  if (epilogue.beta != 0.0f && epilogue.source == nullptr) {
    return Status::refused("beta is " + shortest(epilogue.beta) +
                           ", but there is no C to scale with it.");
  }
  if (epilogue.gated && problem.n % 2 != 0) {
    return Status::refused("n is " + std::to_string(problem.n) +
                           ", but a gate needs pairs of columns: an even n.");
  }
  if (epilogue.source != nullptr && epilogue.beta != 0.0f) {
    if (!is_side_type(epilogue.source_type)) {
      return Status::refused(std::string("C has type ") + name_of(epilogue.source_type) +
                             ", but must be bf16, fp16 or fp32.");
    }
    Status source = check_matrix("C", epilogue.source, problem.m, columns, epilogue.source_pitch,
                                 problem.batch, epilogue.source_batch_pitch, epilogue.source_type);
    if (!source.is_good()) return source;
  }
  if (epilogue.auxiliary != nullptr) {
    if (!is_side_type(epilogue.auxiliary_type)) {
      return Status::refused(std::string("The auxiliary output has type ") +
                             name_of(epilogue.auxiliary_type) +
                             ", but must be bf16, fp16 or fp32.");
    }
    Status auxiliary = check_matrix("the auxiliary output", epilogue.auxiliary, problem.m,
                                    problem.n, epilogue.auxiliary_pitch, problem.batch,
                                    epilogue.auxiliary_batch_pitch, epilogue.auxiliary_type);
    if (!auxiliary.is_good()) return auxiliary;
    Status apart = check_output("the auxiliary output", problem.m, epilogue.auxiliary_pitch,
                                problem.n, problem.batch, epilogue.auxiliary_batch_pitch);
    if (!apart.is_good()) return apart;
  }
  if ((epilogue.column_bias != nullptr || epilogue.row_bias != nullptr) &&
      !is_side_type(epilogue.bias_type)) {
    return Status::refused(std::string("The bias has type ") + name_of(epilogue.bias_type) +
                           ", but must be bf16, fp16 or fp32.");
  }
  return Status::good();
}

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

// The largest power of two, up to 16 bytes, that every line of a matrix is aligned to.
inline unsigned alignment_of(const void* data, std::int64_t pitch, std::int64_t batch,
                             std::int64_t batch_pitch, ElementType type) {
  std::uint64_t bits = reinterpret_cast<std::uintptr_t>(data) |
                       static_cast<std::uint64_t>(pitch) * bytes_of(type) | 16;
  if (batch > 1) bits |= static_cast<std::uint64_t>(batch_pitch) * bytes_of(type);
  return static_cast<unsigned>(bits & (~bits + 1));
}

// Which operands and outputs a kernel takes: types of operands, the type of D, layouts, alignment.

// "1 byte", "4 bytes"
inline std::string counted_bytes(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

// A matrix whose lines begin at multiples of `aligned` bytes, fewer than a kernel needs.
inline std::string alignment_sentence(const char* name, std::int64_t pitch, unsigned aligned,
                                      unsigned least) {
  return sentence(
      "The lines of {} (pitch {} elements) begin at multiples of {}; this kernel needs multiples "
      "of {}.",
      name, pitch, counted_bytes(aligned), least);
}

namespace detail {

// Calls check(name, operand, type, major) with what a kernel takes. With swap_ab operands have the
// caller's names.
template <class Check>
void each_operand(const MatmulProblem& product, const Tiling& tiling, const Check& check) {
  const bool swapped = tiling.swap_ab != 0;
  check("A", swapped ? product.b : product.a, tiling.a_type, tiling.a_major);
  check("B", swapped ? product.a : product.b, tiling.b_type, tiling.b_major);
}

}  // namespace detail

inline Status check_types(const MatmulProblem& product, const MatmulConfig& config) {
  Status found = Status::good();
  const auto check = [&](const char* name, const MatmulOperand& operand, ElementType type, Major) {
    found.unless(operand.type == type, [&] {
      const bool is_fp32 = operand.type == ElementType::Fp32;
      return sentence("{} has type {}; this kernel multiplies {}.{}", name, name_of(operand.type),
                      name_of(type), is_fp32 ? " tf32 (TW_TF32) is float32 in memory." : "");
    });
  };
  detail::each_operand(product, config.tiling, check);
  found.unless(product.d.type == config.d_type, [&] {
    return sentence("D has type {}; this kernel stores {}.", name_of(product.d.type),
                    name_of(config.d_type));
  });
  return found;
}

inline Status check_majors(const MatmulProblem& product, const MatmulConfig& config) {
  Status found = Status::good();
  const auto word = [](Major major) { return major == Major::K ? "K-major" : "MN-major"; };
  const auto check = [&](const char* name, const MatmulOperand& operand, ElementType, Major major) {
    found.unless(operand.major == major, [&] {
      return sentence("{} is {}; this kernel reads it {}.", name, word(operand.major), word(major));
    });
  };
  detail::each_operand(product, config.tiling, check);
  return found;
}

inline Status check_alignment(const MatmulProblem& product, const MatmulConfig& config,
                              unsigned least) {
  Status found = Status::good();
  if (product.k == 0) return found;  // nothing is read
  const auto check = [&](const char* name, const MatmulOperand& operand, ElementType, Major) {
    const unsigned aligned =
        alignment_of(operand.data, operand.pitch, product.batch, operand.batch_pitch, operand.type);
    found.unless(aligned >= least,
                 [&] { return alignment_sentence(name, operand.pitch, aligned, least); });
  };
  detail::each_operand(product, config.tiling, check);
  return found;
}

// All that stands in the way, in this order. `any_layout`: the kernel reads operands of either
// major.
inline Status check_operands(const MatmulProblem& product, const MatmulConfig& config,
                             bool any_layout, unsigned least_alignment) {
  Status found = check_types(product, config);
  if (!any_layout) found.add(check_majors(product, config));
  found.add(check_alignment(product, config, least_alignment));
  return found;
}

}  // namespace tw
