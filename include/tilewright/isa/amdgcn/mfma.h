// Matrix products of one wave on CDNA3 (gfx942) and CDNA4 (gfx950).
#pragma once

#include <type_traits>

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model/mfma.h"

namespace tw::isa {

template <MfmaShape shape>
using MfmaSum = std::conditional_t<shape.a == MfmaType::S8, std::int32_t, float>;

#if defined(__HIP__)
// Registers as the builtins take them.
template <class Element, unsigned count>
using MfmaVector = Element __attribute__((ext_vector_type(count)));

template <class To, class From>
TW_DEVICE To mfma_operand(const From& registers) {
  To operand;
  static_assert(sizeof(operand) == sizeof(registers));
  __builtin_memcpy(&operand, &registers, sizeof(operand));
  return operand;
}
#endif

// v_mfma_f32_RxRxK_T d, a, b, d;  gfx942 (16x16x16 and 32x32x8 of 16-bit, 16x16x32 and 32x32x16 of
// 8-bit types), gfx950 (also 16x16x32 and 32x32x16 of 16-bit types, and 16x16x128_f8f6f4 of 8-bit
// floats, which is at twice the rate of 16x16x32); v_mfma_i32_RxRxK_i8 for S8.
// d += a b. isa/model/mfma.h says where elements are.
template <MfmaShape shape>
TW_DEVICE void mfma(MfmaSum<shape> (&d)[shape.sums()], const std::uint32_t (&a)[shape.registers()],
                    const std::uint32_t (&b)[shape.registers()]) {
  static_assert(shape.is_legal(), "There is no mfma of this shape and these types.");
#if defined(__HIP__)
  using Sums = MfmaVector<MfmaSum<shape>, shape.sums()>;
  Sums sums = mfma_operand<Sums>(d);
// Types are chosen by preprocessor here, for a target refuses builtins that it does not have.
#define TW_MFMA(CONDITION, OPERAND, NAME)                                                          \
  if constexpr (CONDITION)                                                                         \
  sums = __builtin_amdgcn_mfma_##NAME(mfma_operand<OPERAND>(a), mfma_operand<OPERAND>(b), sums, 0, \
                                      0, 0)
  using Half4 = MfmaVector<_Float16, 4>;
  using Short4 = MfmaVector<short, 4>;
  constexpr bool is_16 = shape.rows == 16;
  constexpr bool is_short = shape.k == (is_16 ? 16 : 8);
  constexpr bool is_bf16 = shape.a == MfmaType::Bf16, is_f16 = shape.a == MfmaType::F16;
  TW_MFMA(is_bf16 && is_short && is_16, Short4, f32_16x16x16bf16_1k);
  TW_MFMA(is_bf16 && is_short && !is_16, Short4, f32_32x32x8bf16_1k);
  TW_MFMA(is_f16 && is_short && is_16, Half4, f32_16x16x16f16);
  TW_MFMA(is_f16 && is_short && !is_16, Half4, f32_32x32x8f16);
#if defined(__gfx950__)
  using Bf16x8 = MfmaVector<__bf16, 8>;
  using Half8 = MfmaVector<_Float16, 8>;
  TW_MFMA(is_bf16 && !is_short && is_16, Bf16x8, f32_16x16x32_bf16);
  TW_MFMA(is_bf16 && !is_short && !is_16, Bf16x8, f32_32x32x16_bf16);
  TW_MFMA(is_f16 && !is_short && is_16, Half8, f32_16x16x32_f16);
  TW_MFMA(is_f16 && !is_short && !is_16, Half8, f32_32x32x16_f16);
  constexpr MfmaType e4m3 = MfmaType::E4m3, e5m2 = MfmaType::E5m2;
  // With scales that are the constant 0 the builtin is the instruction without scales.
  if constexpr (shape.k == 128) {
    using Words = MfmaVector<int, 8>;
    constexpr int a_format = shape.a == e5m2 ? 1 : 0, b_format = shape.b == e5m2 ? 1 : 0;
    sums = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(
        mfma_operand<Words>(a), mfma_operand<Words>(b), sums, a_format, b_format, 0, 0, 0, 0);
  }
  static_assert(shape.a != MfmaType::E4m3Fnuz && shape.a != MfmaType::E5m2Fnuz,
                "gfx950 has no fnuz.");
#else
  constexpr MfmaType e4m3 = MfmaType::E4m3Fnuz, e5m2 = MfmaType::E5m2Fnuz;
  static_assert(shape.a != MfmaType::E4m3 && shape.a != MfmaType::E5m2,
                "gfx942's 8-bit floats are fnuz.");
  static_assert(bytes_of(shape.a) == 1 || is_short, "16-bit products of this k need gfx950.");
  static_assert(shape.k < 128, "Products of 128 of k need gfx950.");
#endif
#define TW_MFMA_8(A, B, NAMES)                                                        \
  TW_MFMA(shape.a == A && shape.b == B && is_16 && shape.k == 32, std::int64_t,       \
          f32_16x16x32_##NAMES);                                                      \
  TW_MFMA(shape.a == A && shape.b == B && !is_16, std::int64_t, f32_32x32x16_##NAMES)
  TW_MFMA_8(e4m3, e4m3, fp8_fp8);
  TW_MFMA_8(e4m3, e5m2, fp8_bf8);
  TW_MFMA_8(e5m2, e4m3, bf8_fp8);
  TW_MFMA_8(e5m2, e5m2, bf8_bf8);
  TW_MFMA(shape.a == MfmaType::S8 && is_16, std::int64_t, i32_16x16x32_i8);
  TW_MFMA(shape.a == MfmaType::S8 && !is_16, std::int64_t, i32_32x32x16_i8);
#undef TW_MFMA_8
#undef TW_MFMA
  __builtin_memcpy(&d, &sums, sizeof(d));
#else
  model::mfma(shape, d, a, b);
#endif
}

}  // namespace tw::isa
