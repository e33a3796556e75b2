// The quantiser of blockwise FP8 on the host, from the definition (number/block_scale.h). The
// kernels give the same bits.
#pragma once

#include <algorithm>

#include "tilewright/host/quantise_problem.h"
#include "tilewright/number/convert.h"

namespace tw {

namespace detail {

template <class Source, class Element>
void quantise_block(const QuantiseProblem& problem, std::int64_t batch, std::int64_t row_block,
                    std::int64_t k_block) {
  const std::int64_t first_row = row_block * problem.scale_rows;
  const std::int64_t first = k_block * problem.block;
  const std::int64_t end_row = std::min(problem.m, first_row + problem.scale_rows);
  const std::int64_t end = std::min(problem.k, first + problem.block);
  const auto* const source =
      static_cast<const Source*>(problem.source) + batch * problem.source_batch_pitch;
  const auto value = [&](std::int64_t row, std::int64_t column) {
    return to_float(source[row * problem.source_pitch + column]);
  };
  std::uint32_t largest = 0;
  for (std::int64_t row = first_row; row < end_row; ++row) {
    for (std::int64_t column = first; column < end; ++column) {
      largest = std::max(largest, float32::magnitude(value(row, column)));
    }
  }
  const float scale = block_scale<Element>(std::bit_cast<float>(largest), problem.rule);
  const float inverse = 1.0f / scale;
  problem.scales[batch * problem.scales_batch_pitch +
                 (problem.scales_major == Major::K ? row_block * problem.scales_pitch + k_block
                                                   : k_block * problem.scales_pitch + row_block)] =
      scale;
  for (std::int64_t row = first_row; row < end_row; ++row) {
    auto* const line = static_cast<Element*>(problem.elements) +
                       batch * problem.elements_batch_pitch + row * problem.elements_pitch;
    for (std::int64_t column = first; column < end; ++column) {
      line[column] = scaled_element<Element>(value(row, column), inverse);
    }
  }
}

template <class Source>
void quantise_matrices(const QuantiseProblem& problem) {
  for (std::int64_t batch = 0; batch < problem.batch; ++batch) {
    for (std::int64_t row_block = 0; row_block < problem.scale_lines(); ++row_block) {
      for (std::int64_t k_block = 0; k_block < problem.k_blocks(); ++k_block) {
        if (problem.element_type == ElementType::E4m3) {
          quantise_block<Source, E4m3>(problem, batch, row_block, k_block);
        } else {
          quantise_block<Source, E5m2>(problem, batch, row_block, k_block);
        }
      }
    }
  }
}

}  // namespace detail

// All memory is the host's.
inline Status quantise_on_host(const QuantiseProblem& problem) {
  if (Status status = check(problem); !status.is_good()) return status;
  switch (problem.source_type) {
    case ElementType::Bf16: detail::quantise_matrices<Bf16>(problem); break;
    case ElementType::Fp16: detail::quantise_matrices<Fp16>(problem); break;
    default: detail::quantise_matrices<float>(problem);
  }
  return Status::good();
}

}  // namespace tw
