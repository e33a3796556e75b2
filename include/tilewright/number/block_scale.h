// Blocks of 8-bit floats that share a float32 scale, as blockwise FP8 multiplies them: the scale is
// amax / max, where max is the largest number of the type, so that the largest value of a block
// becomes the largest element.
//
// - Elements are cast from value * (1 / scale), each step rounded to float32 once: the same bits
//   wherever that is computed, as long as subnormals are not flushed.
// - An all-zero block gets the scale 1.
// - A scale below 2^-126 becomes 2^-126: its reciprocal is a number. The elements are then smaller
//   than they could be.
// - A NaN or an infinity makes the scale NaN, and every element of the block: what has overflown
//   before must not look like a number behind.
#pragma once

#include <bit>
#include <cstdint>

#include "tilewright/number/mx.h"

namespace tw {

enum class BlockScale : unsigned {
  real,          // amax / max, to the nearest float32
  power_of_two,  // the smallest power of two that is not below amax / max: scaling is then exact
};

template <MxElement Element>
constexpr float block_scale(float amax, BlockScale rule) {
  constexpr float smallest = 0x1p-126f;
  constexpr float max = NumberTraits<Element>::max_finite;
  const std::uint32_t magnitude = float32::magnitude(amax);
  if (magnitude >= float32::infinity) return std::bit_cast<float>(float32::canonical_nan);
  if (magnitude == 0) return 1.0f;
  const float scale = rule == BlockScale::real
                          ? std::bit_cast<float>(magnitude) / max
                          : static_cast<float>(mx_block_scale<Element>(amax, MxScale::rceil));
  return scale < smallest ? smallest : scale;
}

template <MxElement Element>
constexpr Element scaled_element(float value, float inverse_scale) {
  return Element::from_float(value * inverse_scale, Overflow::saturate);
}

}  // namespace tw
