// The epilogue of a product, from the C interface's to the kernels'.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

#include "tilewright/base/shortest.h"
#include "tilewright/base/status.h"
#include "tilewright/epilogue/arguments.h"
#include "tilewright/types.h"

namespace tw {

namespace detail {

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

// The epilogue of sums of m by n. What any source of it must keep, check() of a MatmulProblem asks.
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

}  // namespace tw
