// 8-bit floats of OCP (e4m3) as the fnuz floats that CDNA3 multiplies. The exponent's bias is one
// more there: the same code is half the value. But -0 is the one NaN, and OCP's NaNs are numbers.
#pragma once

#include <cstdint>

#include "tilewright/base/annotate.h"

namespace tw {

// By so much a value of e4m3 is more than that of what it becomes.
inline constexpr float e4m3_over_fnuz = 2.0f;

// Four codes of e4m3, in a word, as codes of e4m3fnuz: -0 becomes 0, and NaN becomes NaN.
TW_HOST_DEVICE constexpr std::uint32_t fnuz_of_e4m3(std::uint32_t codes) {
  constexpr std::uint32_t signs = 0x80808080, ones = 0x01010101;
  const std::uint32_t magnitudes = codes & ~signs;
  // The upper bit of each byte: set where the magnitude is not zero, where it is all ones.
  const std::uint32_t nonzero = magnitudes + ~signs;
  const std::uint32_t nan = (magnitudes + ones) & signs;
  const std::uint32_t numbers = magnitudes & ~(nan - nan / 128);
  return numbers | (codes & nonzero & signs) | nan;
}

}  // namespace tw
