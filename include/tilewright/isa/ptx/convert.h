// Packed conversions of sums to outputs. Where the target has no instruction, bit operations give
// the same bits. Inputs: isa/ptx/widen.h.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"
#include "tilewright/isa/ptx/widen.h"
#include "tilewright/number/convert.h"
#include "tilewright/number/narrow_float.h"

namespace tw::isa {

// cvt.rn.bf16x2.f32 d, upper, lower;  PTX 7.0, sm_80
TW_DEVICE std::uint32_t cvt_bf16x2(float lower, float upper) {
#if defined(__CUDACC__)
  std::uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(upper), "f"(lower));
  return packed;
#else
  return Bf16(lower).bits | std::uint32_t{Bf16(upper).bits} << 16;
#endif
}

// cvt.rn.f16x2.f32 d, upper, lower;  PTX 7.0, sm_80. Overflow is infinite.
TW_DEVICE std::uint32_t cvt_f16x2(float lower, float upper) {
#if defined(__CUDACC__)
  std::uint32_t packed;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(upper), "f"(lower));
  return packed;
#else
  return Fp16(lower).bits | std::uint32_t{Fp16(upper).bits} << 16;
#endif
}

// cvt.rn.satfinite.e4m3x2.f32 d, upper, lower;  PTX 8.1, sm_89. NaN becomes 0x7f.
TW_DEVICE std::uint16_t cvt_e4m3x2(float lower, float upper) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  std::uint16_t packed;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(packed) : "f"(upper), "f"(lower));
  return packed;
#else
  return static_cast<std::uint16_t>(E4m3(lower).bits | E4m3(upper).bits << 8);
#endif
}

// cvt.rn.satfinite.e5m2x2.f32 d, upper, lower;  PTX 8.1, sm_89. NaN becomes 0x7f.
TW_DEVICE std::uint16_t cvt_e5m2x2(float lower, float upper) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  std::uint16_t packed;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(packed) : "f"(upper), "f"(lower));
  return packed;
#else
  return static_cast<std::uint16_t>(E5m2(lower).bits | E5m2(upper).bits << 8);
#endif
}

// cvt.rni.s32.f32 d, a;  PTX 1.0, sm_10. Nearest, ties to even; saturates; NaN becomes 0.
TW_DEVICE std::int32_t cvt_s32(float value) {
#if defined(__CUDACC__)
  std::int32_t result;
  asm("cvt.rni.s32.f32 %0, %1;" : "=r"(result) : "f"(value));
  return result;
#else
  return round_to_integer<std::int32_t>(value);
#endif
}

// cvt.rni.sat.s8.f32 d, a;  PTX 1.0, sm_10. Nearest, ties to even; saturates; NaN becomes 0.
TW_DEVICE std::int8_t cvt_s8(float value) {
#if defined(__CUDACC__)
  std::int32_t result;
  asm("cvt.rni.sat.s8.f32 %0, %1;" : "=r"(result) : "f"(value));
  return static_cast<std::int8_t>(result);
#else
  return round_to_integer<std::int8_t>(value);
#endif
}

}  // namespace tw::isa
