// What a matmul must satisfy, wherever it runs, and its epilogue, from the C interface's to the
// kernels'. Every refusal is a sentence with the number and the rule.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include "tilewright/base/shortest.h"
#include "tilewright/base/status.h"
#include "tilewright/launch/description.h"
#include "tilewright/launch/matmul_problem.h"
#include "tilewright/launch/product_facts.h"
#include "tilewright/types.h"

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

inline Status take_type(ElementType& type, const char* name, tw_type given) {
  const auto number = static_cast<unsigned>(given);
  if (number > TW_S32) {
    return Status::refused(
        "The type of " + std::string(name) + " is " + std::to_string(static_cast<int>(number)) +
        ", but a tw_type is between 0 and " + std::to_string(static_cast<int>(TW_S32)) + ".");
  }
  type = static_cast<ElementType>(number);
  return Status::good();
}

// A pitch for what has one line only, so that it spoils no alignment.
constexpr std::int64_t pitch_of_one_line(std::int64_t length) {
  return (std::max<std::int64_t>(length, 1) + 15) / 16 * 16;
}

// Offsets up to here are computed without overflow, whatever the element.
inline Status check_span(const char* before, const char* name, std::int64_t lines,
                         std::int64_t pitch, std::int64_t batch, std::int64_t batch_pitch) {
  const double span = static_cast<double>(lines) * static_cast<double>(pitch) +
                      static_cast<double>(batch) * static_cast<double>(batch_pitch);
  if (span <= 0x1p58) return Status::good();
  char digits[64];
  std::snprintf(digits, sizeof digits, "%.0f", span);
  return Status::refused(std::string(before) + name + " spans " + digits +
                         " elements, but at most 2^58 are addressed.");
}

// The pitch of a matrix whose rows are lines of memory.
inline Status take_rows(std::int64_t& pitch, const char* name, const tw_matrix& given,
                        std::int64_t rows, std::int64_t columns, std::int64_t batch) {
  pitch = pitch_of_one_line(columns);
  if (rows < 1 || columns < 1) return Status::good();
  if (columns > 1 && given.column_stride != 1) {
    return Status::refused(std::string(name) + " has a column_stride of " +
                           std::to_string(given.column_stride) +
                           ", but must have 1: its rows are contiguous.");
  }
  if (rows > 1) pitch = given.row_stride;
  return check_span("", name, rows, pitch, batch, batch > 1 ? given.batch_stride : 0);
}

inline Status check_aligned(const char* name, const void* address, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(address) % bytes == 0) return Status::good();
  return Status::refused("The address of " + std::string(name) + " is not a multiple of " +
                         std::to_string(bytes) + " bytes, its element's size.");
}

}  // namespace detail

// The epilogue of sums of m by n. What any source of it must keep, check_epilogue() asks.
inline Status take_epilogue(EpilogueArguments& epilogue, const tw_epilogue& given, std::int64_t m,
                            std::int64_t n, std::int64_t batch) {
  static_assert(TW_CLAMP == static_cast<tw_activation>(Activation::Clamp));
  epilogue = {};
  epilogue.alpha = given.alpha;
  epilogue.beta = given.beta;
  epilogue.output_scale = given.output_scale;
  epilogue.clamp_low = given.clamp_low;
  epilogue.clamp_high = given.clamp_high;
  const auto activation = static_cast<unsigned>(given.activation);
  if (activation > TW_CLAMP) {
    return Status::refused("The activation is " + std::to_string(static_cast<int>(activation)) +
                           ", but a tw_activation is between 0 and " +
                           std::to_string(static_cast<int>(TW_CLAMP)) + ".");
  }
  epilogue.activation = static_cast<Activation>(activation);
  epilogue.gated = given.gated != 0;
  if (given.activation == TW_CLAMP && !(given.clamp_low <= given.clamp_high)) {
    return Status::refused("clamp_low is " + shortest(given.clamp_low) +
                           ", but must not exceed clamp_high, " + shortest(given.clamp_high) + ".");
  }
  Status status = Status::good();
  const auto is_good = [&status](const Status& next) {
    status = next;
    return status.is_good();
  };
  // A scale of zero means that the source is not read.
  if (given.source.data != nullptr && given.beta != 0.0f) {
    epilogue.source = given.source.data;
    epilogue.source_batch_pitch = batch > 1 ? given.source.batch_stride : 0;
    if (!is_good(detail::take_type(epilogue.source_type, "the source", given.source.type)) ||
        !is_good(detail::take_rows(epilogue.source_pitch, "The source", given.source, m,
                                   epilogue.gated ? n / 2 : n, batch))) {
      return status;
    }
  }
  if (given.auxiliary.data != nullptr) {
    epilogue.auxiliary = given.auxiliary.data;
    epilogue.auxiliary_batch_pitch = batch > 1 ? given.auxiliary.batch_stride : 0;
    if (!is_good(detail::take_type(epilogue.auxiliary_type, "the auxiliary output",
                                   given.auxiliary.type)) ||
        !is_good(detail::take_rows(epilogue.auxiliary_pitch, "The auxiliary output",
                                   given.auxiliary, m, n, batch))) {
      return status;
    }
  }
  if (given.column_bias != nullptr || given.row_bias != nullptr) {
    if (!is_good(detail::take_type(epilogue.bias_type, "the bias", given.bias_type))) return status;
    const std::size_t bytes = bytes_of(epilogue.bias_type);
    if (!is_good(detail::check_aligned("the column bias", given.column_bias, bytes)) ||
        !is_good(detail::check_aligned("the row bias", given.row_bias, bytes))) {
      return status;
    }
    epilogue.column_bias = given.column_bias;
    epilogue.row_bias = given.row_bias;
  }
  if (!is_good(detail::check_aligned("the column scale", given.column_scale, sizeof(float))) ||
      !is_good(detail::check_aligned("the row scale", given.row_scale, sizeof(float))) ||
      !is_good(detail::check_aligned("amax", given.amax, sizeof(float)))) {
    return status;
  }
  epilogue.column_scale = given.column_scale;
  epilogue.row_scale = given.row_scale;
  // The kernels raise its bits.
  epilogue.amax = reinterpret_cast<std::uint32_t*>(given.amax);
  return status;
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
