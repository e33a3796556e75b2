// Packed conversions of narrow inputs to what mma.sync multiplies. Where the target has no
// instruction, bit operations give the same bits.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"
#include "tilewright/number/convert.h"
#include "tilewright/number/narrow_float.h"

namespace tw::isa {

// cvt.rn.f16x2.e4m3x2 d, a;  PTX 8.1, sm_89. Exact: f16 holds every e4m3. NaN becomes 0x7fff.
TW_DEVICE std::uint32_t cvt_f16x2_e4m3x2(std::uint16_t pair) {
#if defined(__CUDACC__)
  std::uint32_t result;
#if __CUDA_ARCH__ >= 890
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(result) : "h"(pair));
#else
  // Sign and magnitude one byte higher and one bit lower, read as f16, are the value times 2^-8,
  // also where it is subnormal.
  const std::uint32_t bytes = (pair & 0xffu) | (pair & 0xff00u) << 8;
  const std::uint32_t magnitude = bytes & 0x007f007fu;
  const std::uint32_t scaled = (bytes & 0x00800080u) << 8 | magnitude << 7;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(scaled), "r"(0x5c005c00u));
  const std::uint32_t is_nan = (magnitude + 0x00010001u & 0x00800080u) >> 7;  // 1 in each half
  result = (result & ~(is_nan * 0xffffu)) | is_nan * 0x7fffu;
#endif
  return result;
#else
  const auto convert = [](unsigned code) {
    const float value{E4m3::from_bits(static_cast<std::uint8_t>(code))};
    return std::uint32_t{Fp16(value).bits};
  };
  return convert(pair & 0xffu) | convert(pair >> 8) << 16;
#endif
}

// cvt.rn.f16x2.e4m3x2, cvt.f32.f16 of both halves, cvt.rn.bf16x2.f32;  PTX 8.1, sm_89. Exact: bf16
// holds every e4m3, and NaN stays one.
TW_DEVICE std::uint32_t cvt_bf16x2_e4m3x2(std::uint16_t pair) {
#if defined(__CUDACC__)
  float lower, upper;
  asm("{\n.reg .b16 l, u;\nmov.b32 {l, u}, %2;\ncvt.f32.f16 %0, l;\ncvt.f32.f16 %1, u;\n}"
      : "=f"(lower), "=f"(upper)
      : "r"(cvt_f16x2_e4m3x2(pair)));
  std::uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(upper), "f"(lower));
  return packed;
#else
  const auto convert = [](unsigned code) {
    const float value{E4m3::from_bits(static_cast<std::uint8_t>(code))};
    return std::uint32_t{Bf16(value).bits};
  };
  return convert(pair & 0xffu) | convert(pair >> 8) << 16;
#endif
}

// cvt.rn.f16x2.e5m2x2 d, a;  PTX 8.1, sm_89. Exact; NaN becomes 0x7fff.
TW_DEVICE std::uint32_t cvt_f16x2_e5m2x2(std::uint16_t pair) {
#if defined(__CUDACC__)
  std::uint32_t result;
#if __CUDA_ARCH__ >= 890
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(result) : "h"(pair));
#else
  // e5m2 is the upper byte of an f16; a magnitude above 0x7c is NaN.
  const std::uint32_t bytes = (pair & 0xffu) | (pair & 0xff00u) << 8;
  const std::uint32_t is_nan = ((bytes & 0x007f007fu) + 0x00030003u & 0x00800080u) >> 7;
  result = (bytes << 8 & ~(is_nan * 0xffffu)) | is_nan * 0x7fffu;
#endif
  return result;
#else
  const auto convert = [](unsigned code) {
    const float value{E5m2::from_bits(static_cast<std::uint8_t>(code))};
    return std::uint32_t{Fp16(value).bits};
  };
  return convert(pair & 0xffu) | convert(pair >> 8) << 16;
#endif
}

}  // namespace tw::isa
