// Packed conversions of sums to outputs on CDNA. Nearest even. CDNA3's 8-bit floats are not ours,
// and CDNA4's do not saturate by themselves: both are made by bit operations.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/number/convert.h"
#include "tilewright/number/narrow_float.h"

namespace tw::isa {

// v_cvt_pk_bf16_f32 on gfx950. NaN stays NaN.
TW_DEVICE std::uint32_t cvt_bf16x2(float lower, float upper) {
  const auto bits = [](float value) {
    return std::uint32_t{__builtin_bit_cast(std::uint16_t, static_cast<__bf16>(value))};
  };
  return bits(lower) | bits(upper) << 16;
}

// v_cvt_f16_f32. Overflow is infinite.
TW_DEVICE std::uint32_t cvt_f16x2(float lower, float upper) {
  const auto bits = [](float value) {
    return std::uint32_t{__builtin_bit_cast(std::uint16_t, static_cast<_Float16>(value))};
  };
  return bits(lower) | bits(upper) << 16;
}

TW_DEVICE std::uint16_t cvt_e4m3x2(float lower, float upper) {
  return static_cast<std::uint16_t>(E4m3(lower).bits | E4m3(upper).bits << 8);
}

TW_DEVICE std::uint16_t cvt_e5m2x2(float lower, float upper) {
  return static_cast<std::uint16_t>(E5m2(lower).bits | E5m2(upper).bits << 8);
}

// Saturates; NaN becomes 0.
TW_DEVICE std::int32_t cvt_s32(float value) { return round_to_integer<std::int32_t>(value); }

}  // namespace tw::isa
