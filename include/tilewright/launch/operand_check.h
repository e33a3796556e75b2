// Which operands and outputs a kernel takes: types of operands, the type of D, layouts, alignment.
#pragma once

#include <string>
#include <utility>

#include "tilewright/base/status.h"
#include "tilewright/launch/description.h"
#include "tilewright/launch/matmul_check.h"
#include "tilewright/launch/product_facts.h"

namespace tw {

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

// Calls check(name, operand, type, major) with what a kernel takes. Where operands are exchanged,
// the caller's are asked about: those of a kernel are alike.
template <class Check>
void each_operand(const MatmulProblem& given, const Tiling& tiling, const Check& check) {
  check("A", given.a, tiling.a_type, tiling.a_major);
  check("B", given.b, tiling.b_type, tiling.b_major);
}

}  // namespace detail

inline Status check_types(const MatmulProblem& given, const MatmulConfig& config) {
  Status found = Status::good();
  const auto check = [&](const char* name, const MatmulOperand& operand, ElementType type, Major) {
    found.unless(operand.type == type, [&] {
      const bool is_fp32 = operand.type == ElementType::Fp32;
      return sentence("{} has type {}; this kernel multiplies {}.{}", name, name_of(operand.type),
                      name_of(type), is_fp32 ? " tf32 (TW_TF32) is float32 in memory." : "");
    });
  };
  detail::each_operand(given, config.tiling, check);
  found.unless(given.d.type == config.d_type, [&] {
    return sentence("D has type {}; this kernel stores {}.", name_of(given.d.type),
                    name_of(config.d_type));
  });
  return found;
}

inline Status check_majors(const MatmulProblem& given, const MatmulConfig& config) {
  Status found = Status::good();
  const auto word = [](Major major) { return major == Major::K ? "K-major" : "MN-major"; };
  const auto check = [&](const char* name, const MatmulOperand& operand, ElementType, Major major) {
    found.unless(operand.major == major, [&] {
      return sentence("{} is {}; this kernel reads it {}.", name, word(operand.major), word(major));
    });
  };
  detail::each_operand(given, config.tiling, check);
  return found;
}

inline Status check_alignment(const MatmulProblem& given, const MatmulConfig& config,
                              unsigned least) {
  Status found = Status::good();
  if (given.k == 0) return found;  // nothing is read
  const auto check = [&](const char* name, const MatmulOperand& operand, ElementType, Major) {
    const unsigned aligned =
        alignment_of(operand.data, operand.pitch, given.batch, operand.batch_pitch, operand.type);
    found.unless(aligned >= least,
                 [&] { return alignment_sentence(name, operand.pitch, aligned, least); });
  };
  detail::each_operand(given, config.tiling, check);
  return found;
}

// All that stands in the way, in this order. `any_layout`: the kernel reads operands of either
// major.
inline Status check_operands(const MatmulProblem& given, const MatmulConfig& config,
                             bool any_layout, unsigned least_alignment) {
  Status found = check_types(given, config);
  if (!any_layout) found.add(check_majors(given, config));
  found.add(check_alignment(given, config, least_alignment));
  return found;
}

}  // namespace tw
