// Scales of e2m1 as packed weights have them (layout/packed_weights.h), of those of checkpoints.
#pragma once

#include <cstdint>

#include "tilewright/layout/packed_weights.h"

namespace tw {

// A group's byte that is packed, and what becomes of its codes.
struct PackedScale {
  std::uint8_t byte;
  bool fits = true;     // false: no byte stands for the scale
  bool clears = false;  // codes become `code`
  bool flips = false;   // codes change their signs
  std::uint8_t code = 0;
};

// This scale makes every weight of a group NaN; for e4m3 it is the last entry of the table.
constexpr PackedScale nan_scale(ElementType activation) {
  if (activation == ElementType::E4m3) return {.byte = 91, .clears = true, .code = 7};
  return {.byte = 255, .clears = true};
}

// Any number: of groups whose codes are all 0.
constexpr PackedScale no_scale(ElementType activation) {
  return {.byte = static_cast<std::uint8_t>(activation == ElementType::Bf16   ? 127
                                            : activation == ElementType::Fp16 ? 120
                                                                              : 40),
          .clears = true};
}

// The bounds keep the halves of e2m1 exact: 2^-133 is bf16's smallest number, 2^-24 fp16's. Of e4m3
// they are normal numbers, the largest 6 * 2^6: then a scale is added to exponents.
constexpr PackedScale packed_ue8m0(std::uint8_t code, ElementType activation, int exponent) {
  if (code == 255) return nan_scale(activation);
  if (activation == ElementType::E4m3) {
    const int above = code - exponent - 122;
    return {.byte = static_cast<std::uint8_t>(8 * above), .fits = above >= 0 && above <= 11};
  }
  const bool is_bf16 = activation == ElementType::Bf16;
  const int biased = code - exponent + (is_bf16 ? 126 : -98);
  const bool fits = is_bf16 ? biased >= 121 && biased <= 254 : biased >= 6 && biased <= 30;
  return {.byte = static_cast<std::uint8_t>(is_bf16 ? biased : 8 * biased), .fits = fits};
}

constexpr PackedScale packed_e4m3(std::uint8_t code, ElementType activation) {
  constexpr int bias = 7, packed_bias = 21, fraction_bits = 3, fraction = (1 << fraction_bits) - 1;
  const int magnitude = code & 127;
  if (magnitude == 127) return nan_scale(activation);
  if (magnitude == 0) return no_scale(activation);
  int field = magnitude >> fraction_bits, part = magnitude & fraction;
  if (field == 0) {  // subnormal: shifted until its first bit is where others leave it out
    for (field = 1; part <= fraction; --field) part <<= 1;
    part &= fraction;
  }
  return {.byte = static_cast<std::uint8_t>((field - bias + packed_bias) << fraction_bits | part),
          .flips = code > 127};
}

}  // namespace tw
