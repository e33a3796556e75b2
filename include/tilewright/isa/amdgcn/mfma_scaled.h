// Matrix products of one wave of elements with block scales, on CDNA4 (gfx950).
#pragma once

#include "tilewright/isa/amdgcn/mfma.h"
#include "tilewright/isa/model/mfma_scaled.h"

namespace tw::isa {

// v_mfma_scale_f32_16x16x128_f8f6f4 d, a, b, d, a_scale, b_scale cbsz:A blgp:B;  gfx950
// d += (a a_scale) (b b_scale). isa/model/mfma_scaled.h says where elements and scales are.
template <MfmaScaledShape shape>
TW_DEVICE void mfma_scaled(float (&d)[shape.sums],
                           const std::uint32_t (&a)[shape.registers(shape.a)],
                           const std::uint32_t (&b)[shape.registers(shape.b)],
                           std::uint32_t a_scale, std::uint32_t b_scale) {
  static_assert(shape.is_legal(), "There is no scaled mfma of these types here.");
#if defined(__HIP__)
  using Sums = MfmaVector<float, shape.sums>;
  // They must be constants: the compiler fails where a call stands for them.
  constexpr int a_format = shape.format_of(shape.a), b_format = shape.format_of(shape.b);
  using Operand = MfmaVector<int, shape.most_registers>;
  // The compiler takes as many of the eight registers as the format has.
  Operand a_filled = {}, b_filled = {};
  __builtin_memcpy(&a_filled, &a, sizeof(a));
  __builtin_memcpy(&b_filled, &b, sizeof(b));
  const Sums sums = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(
      a_filled, b_filled, mfma_operand<Sums>(d), a_format, b_format, 0, static_cast<int>(a_scale),
      0, static_cast<int>(b_scale));
  __builtin_memcpy(&d, &sums, sizeof(d));
#else
  model::mfma_scaled(shape, d, a, b, a_scale, b_scale);
#endif
}

}  // namespace tw::isa
