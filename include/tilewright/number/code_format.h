// Elements and scales whose formats are known at run time, as numbers.
#pragma once

#include <bit>

#include "tilewright/base/annotate.h"
#include "tilewright/number/element_type.h"
#include "tilewright/number/scale_type.h"
#include "tilewright/number/ue8m0.h"

namespace tw {

// How codes of a format become numbers.
struct CodeFormat {
  unsigned bits;
  unsigned mantissa_bits;
  std::uint32_t max_code;       // codes above it are infinity, where they are that one, or NaN
  std::uint32_t infinity_code;  // one that no magnitude has, where there is no infinity
  float unit;                   // what the bits as those of a float32 are multiplied with

  static constexpr CodeFormat of(const FloatFormat& format) {
    const bool has_infinity = format.specials == Specials::infinity_and_nan;
    return {static_cast<unsigned>(format.bits()), static_cast<unsigned>(format.mantissa_bits),
            format.max_code(), has_infinity ? format.infinity_code() : ~0u,
            std::bit_cast<float>(std::uint32_t(float32::bias + float32::bias - format.bias)
                                 << float32::mantissa_bits)};
  }
  static constexpr CodeFormat of(ElementType type) {
    switch (type) {
      case ElementType::E4m3: return of(e4m3_format);
      case ElementType::E5m2: return of(e5m2_format);
      case ElementType::E2m3: return of(e2m3_format);
      case ElementType::E3m2: return of(e3m2_format);
      default: return of(e2m1_format);
    }
  }
  // The highest bit of a code is its sign.
  TW_DEVICE float value(std::uint32_t code) const {
    const std::uint32_t sign = code >> (bits - 1), magnitude = code ^ sign << (bits - 1);
    float value =
        std::bit_cast<float>(magnitude << (float32::mantissa_bits - mantissa_bits)) * unit;
    if (magnitude > max_code) {
      std::uint32_t special = float32::canonical_nan;
      if (magnitude == infinity_code) special = float32::infinity;
      value = std::bit_cast<float>(special);
    }
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign << 31);
  }
};

TW_DEVICE float scale_value(ScaleType type, std::uint8_t code) {
  return type == ScaleType::Ue8m0 ? static_cast<float>(Ue8m0::from_bits(code))
                                  : static_cast<float>(Ue4m3::from_bits(code));
}

}  // namespace tw
