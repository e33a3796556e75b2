// What the block-scaled formats share: how values are cut into blocks, and a block's maximum.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tilewright/number/narrow_float.h"

namespace tw {

// The last block may be short.
constexpr std::size_t num_blocks(std::size_t num_values, std::size_t block) {
  return (num_values + block - 1) / block;
}

template <class T>
constexpr std::span<T> nth_block(std::span<T> values, std::size_t index, std::size_t block) {
  const std::size_t begin = index * block;
  const std::size_t rest = values.size() - begin;
  return values.subspan(begin, rest < block ? rest : block);
}

// max |value|; NaN if there is one. No values: 0.
constexpr float absolute_maximum(std::span<const float> values) {
  std::uint32_t largest = 0;
  for (const float value : values) {
    const std::uint32_t magnitude = float32::magnitude(value);
    if (magnitude > largest) largest = magnitude;
  }
  return std::bit_cast<float>(largest);
}

}  // namespace tw
