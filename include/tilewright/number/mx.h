// MX (OCP Microscaling v1.0): blocks of 32 elements that share a power of two.
//
// What the specification leaves open, and the rule taken here:
// - An all-zero block gets the smallest scale, 2^-127, and zero elements.
// - A scale below 2^-127 becomes 2^-127; the elements are then smaller than they could be.
// - A NaN makes the scale NaN, hence the whole block. The elements hold what NaN is encoded to.
// - An infinity is saturated to the largest element. FLOOR treats it as 2^128, RCEIL takes the
//   largest scale, as PTX cvt.rp.satfinite does; under both it is dequantised to infinity again,
//   because the product exceeds float32.
// Quantising multiplies float32 subnormals and must not flush them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tilewright/base/require.h"
#include "tilewright/number/block.h"
#include "tilewright/number/traits.h"

namespace tw {

inline constexpr std::size_t mx_block = 32;

enum class MxScale {
  floor,  // OCP: 2^(floor(log2 amax) - emax). An amax above max * 2^-emax saturates.
  rceil,  // NVIDIA: the smallest power of two not below amax / max. Nothing saturates.
};

template <class T>
concept MxElement = NarrowNumber<T> && NumberTraits<T>::bits <= 8;

// From the bit pattern: a rounded log2 gives k instead of k - 1 just below 2^k, and the quotient
// amax / max is rounded.
template <MxElement Element>
constexpr Ue8m0 mx_block_scale(float amax, MxScale rule) {
  constexpr int max_exponent = Element::format.max_exponent();
  constexpr int mantissa_bits = float32::mantissa_bits;
  constexpr std::uint32_t implicit_one = 1u << mantissa_bits;
  constexpr std::uint32_t max_significand =
      (float32::magnitude(NumberTraits<Element>::max_finite) & (implicit_one - 1)) | implicit_one;

  const std::uint32_t magnitude = float32::magnitude(amax);
  if (magnitude > float32::infinity) return Ue8m0::from_bits(Ue8m0::nan_code);
  if (magnitude == float32::infinity && rule == MxScale::rceil)
    return Ue8m0::from_bits(Ue8m0::max_code);

  // Zero's and subnormals' is too large, but still far below what the scale can follow.
  static_assert(max_exponent >= 2);
  const int exponent = static_cast<int>(magnitude >> mantissa_bits) - float32::bias;
  const std::uint32_t significand = (magnitude & (implicit_one - 1)) | implicit_one;
  const bool exceeds_max = rule == MxScale::rceil && significand > max_significand;
  return Ue8m0::from_exponent(exponent - max_exponent + (exceeds_max ? 1 : 0));
}

// One block, of 32 values or the short rest of a tensor. Returns its scale.
template <MxElement Element>
constexpr Ue8m0 quantise_mx_block(std::span<Element> elements, std::span<const float> values,
                                  MxScale rule) {
  const Ue8m0 scale = mx_block_scale<Element>(absolute_maximum(values), rule);
  const float inverse = static_cast<float>(scale.inverse());
  for (std::size_t i = 0; i < values.size(); ++i)
    elements[i] = Element::from_float(values[i] * inverse, Overflow::saturate);
  return scale;
}

template <MxElement Element>
constexpr void quantise_mx(std::span<Element> elements, std::span<Ue8m0> scales,
                           std::span<const float> values, MxScale rule) {
  require(elements.size() == values.size(), "quantise_mx: there must be one element a value");
  require(scales.size() == num_blocks(values.size(), mx_block),
          "quantise_mx: there must be one scale for every 32 values or part of them");
  for (std::size_t b = 0; b < scales.size(); ++b)
    scales[b] = quantise_mx_block<Element>(nth_block(elements, b, mx_block),
                                           nth_block(values, b, mx_block), rule);
}

template <MxElement Element>
constexpr void dequantise_mx(std::span<float> values, std::span<const Element> elements,
                             std::span<const Ue8m0> scales) {
  require(elements.size() == values.size(), "dequantise_mx: there must be one element a value");
  require(scales.size() == num_blocks(values.size(), mx_block),
          "dequantise_mx: there must be one scale for every 32 values or part of them");
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(elements[i]) * static_cast<float>(scales[i / mx_block]);
}

}  // namespace tw
