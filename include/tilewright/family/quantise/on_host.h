// The quantiser of blockwise FP8 on the host, from the definition (number/block_scale.h), and the
// copy. The kernels give the same bits.
#pragma once

#include <algorithm>

#include "tilewright/family/quantise/family.h"
#include "tilewright/launch/checked.h"
#include "tilewright/number/block_scale.h"
#include "tilewright/number/convert.h"

namespace tw {

namespace detail {

// Where an element lies in a tensor.
inline std::int64_t offset_of(const TensorLines& lines, std::int64_t batch, std::int64_t row,
                              std::int64_t column) {
  return batch * lines.batch_pitch +
         (lines.by_rows ? row * lines.pitch + column : column * lines.pitch + row);
}

template <class Source, class Element>
void quantise_block(const Checked& checked, std::int64_t batch, std::int64_t row_block,
                    std::int64_t k_block) {
  const tw_quantise_problem& problem = checked.as<tw_quantise_problem>();
  const TensorLines &source = checked.tensor(QuantiseFamily::source),
                    &elements = checked.tensor(QuantiseFamily::elements),
                    &scales = checked.tensor(QuantiseFamily::scales);
  const std::int64_t first_row = row_block * problem.scale_rows;
  const std::int64_t first = k_block * QuantiseFamily::block;
  const std::int64_t end_row = std::min(problem.m, first_row + problem.scale_rows);
  const std::int64_t end = std::min(problem.k, first + QuantiseFamily::block);
  const auto value = [&](std::int64_t row, std::int64_t column) {
    return to_float(static_cast<const Source*>(source.data)[offset_of(source, batch, row, column)]);
  };
  std::uint32_t largest = 0;
  for (std::int64_t row = first_row; row < end_row; ++row) {
    for (std::int64_t column = first; column < end; ++column) {
      largest = std::max(largest, float32::magnitude(value(row, column)));
    }
  }
  const float scale = block_scale<Element>(
      std::bit_cast<float>(largest),
      problem.powers_of_two != 0 ? BlockScale::power_of_two : BlockScale::real);
  const float inverse = 1.0f / scale;
  static_cast<float*>(scales.data)[offset_of(scales, batch, row_block, k_block)] = scale;
  for (std::int64_t row = first_row; row < end_row; ++row) {
    for (std::int64_t column = first; column < end; ++column) {
      static_cast<Element*>(elements.data)[offset_of(elements, batch, row, column)] =
          scaled_element<Element>(value(row, column), inverse);
    }
  }
}

template <class Source>
void quantise_matrices(const Checked& checked) {
  const tw_quantise_problem& problem = checked.as<tw_quantise_problem>();
  const TensorLines &source = checked.tensor(QuantiseFamily::source),
                    &elements = checked.tensor(QuantiseFamily::elements);
  const bool e4m3 = elements.type == ElementType::E4m3;
  for (std::int64_t batch = 0; batch < problem.batch; ++batch) {
    for (std::int64_t row = 0; QuantiseFamily::copies(problem) && row < problem.m; ++row) {
      std::copy_n(static_cast<const Source*>(source.data) + offset_of(source, batch, row, 0),
                  problem.k,
                  static_cast<Source*>(elements.data) + offset_of(elements, batch, row, 0));
    }
    for (std::int64_t row = 0; row < QuantiseFamily::scale_lines(problem); ++row) {
      for (std::int64_t k_block = 0; k_block < QuantiseFamily::k_blocks(problem); ++k_block) {
        if (e4m3) {
          quantise_block<Source, E4m3>(checked, batch, row, k_block);
        } else {
          quantise_block<Source, E5m2>(checked, batch, row, k_block);
        }
      }
    }
  }
}

}  // namespace detail

// All memory is the host's.
inline void quantise_on_host(const Checked& checked) {
  if (checked.is_empty()) return;
  switch (checked.tensor(QuantiseFamily::source).type) {
    case ElementType::Bf16: detail::quantise_matrices<Bf16>(checked); break;
    case ElementType::Fp16: detail::quantise_matrices<Fp16>(checked); break;
    default: detail::quantise_matrices<float>(checked);
  }
}

}  // namespace tw
