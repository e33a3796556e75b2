// NVFP4: blocks of 16 e2m1 elements with a ue4m3 scale each, and one float32 scale for the tensor:
// value = tensor scale * block scale * element.
//
// What is left open elsewhere, and the rule taken here:
// - The tensor scale looks at finite values only, so that one bad value spoils its own block alone.
//   It is never below 2^-121, which covers an all-zero tensor, too: with the smallest block scale
//   the reciprocal of both is then 2^127, still finite.
// - A NaN makes its block's scale NaN, hence the whole block. The elements hold 6, as NaN does.
// - An infinity saturates block scale and element: it is dequantised to 448 * 6 * tensor scale.
// - A block scale is never below 2^-6, the smallest normal ue4m3, also in an all-zero block.
#pragma once

#include <bit>
#include <cstddef>
#include <span>

#include "tilewright/base/require.h"
#include "tilewright/number/block.h"
#include "tilewright/number/traits.h"

namespace tw {

inline constexpr std::size_t nvfp4_block = 16;

// `amax` is the largest finite magnitude of the tensor.
constexpr float nvfp4_tensor_scale(float amax) {
  constexpr float largest = NumberTraits<Ue4m3>::max_finite * NumberTraits<E2m1>::max_finite;
  constexpr float smallest_scale = 0x1p-121f;
  const float scale = amax / largest;
  return scale > smallest_scale ? scale : smallest_scale;
}

constexpr float nvfp4_tensor_scale(std::span<const float> values) {
  float amax = 0;
  for (const float value : values) {
    const float magnitude = std::bit_cast<float>(float32::magnitude(value));
    if (magnitude > amax && magnitude <= NumberTraits<float>::max_finite) amax = magnitude;
  }
  return nvfp4_tensor_scale(amax);
}

constexpr Ue4m3 nvfp4_block_scale(float block_amax, float tensor_scale) {
  constexpr float smallest_scale = NumberTraits<Ue4m3>::min_normal;
  const float scale = block_amax / NumberTraits<E2m1>::max_finite / tensor_scale;
  return Ue4m3::from_float(scale < smallest_scale ? smallest_scale : scale, Overflow::saturate);
}

// One block, of 16 values or the short rest of a tensor; the tensor scale is from the function
// above, or at least 2^-121. Returns its scale. The order of the float32 operations, value * (1 /
// tensor scale / block scale), decides ties: another one rounds otherwise.
constexpr Ue4m3 quantise_nvfp4_block(std::span<E2m1> elements, std::span<const float> values,
                                     float tensor_scale) {
  const Ue4m3 scale = nvfp4_block_scale(absolute_maximum(values), tensor_scale);
  const float inverse = 1.0f / tensor_scale / static_cast<float>(scale);
  for (std::size_t i = 0; i < values.size(); ++i) elements[i] = E2m1(values[i] * inverse);
  return scale;
}

constexpr void quantise_nvfp4(std::span<E2m1> elements, std::span<Ue4m3> scales,
                              std::span<const float> values, float tensor_scale) {
  require(elements.size() == values.size(), "quantise_nvfp4: there must be one element a value");
  require(scales.size() == num_blocks(values.size(), nvfp4_block),
          "quantise_nvfp4: there must be one scale for every 16 values or part of them");
  for (std::size_t b = 0; b < scales.size(); ++b)
    scales[b] = quantise_nvfp4_block(nth_block(elements, b, nvfp4_block),
                                     nth_block(values, b, nvfp4_block), tensor_scale);
}

constexpr void dequantise_nvfp4(std::span<float> values, std::span<const E2m1> elements,
                                std::span<const Ue4m3> scales, float tensor_scale) {
  require(elements.size() == values.size(), "dequantise_nvfp4: there must be one element a value");
  require(scales.size() == num_blocks(values.size(), nvfp4_block),
          "dequantise_nvfp4: there must be one scale for every 16 values or part of them");
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = tensor_scale * static_cast<float>(scales[i / nvfp4_block]) *
                static_cast<float>(elements[i]);
}

}  // namespace tw
