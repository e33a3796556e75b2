// Arithmetic on two numbers of 16 bits that share a register. Subnormal numbers are kept.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/model.h"
#include "tilewright/number/element_type.h"

namespace tw::isa {

#if TW_MODELLED
namespace detail {
// Both halves, each by an operation on float32 and rounded once more: products of two numbers of at
// most 11 bits, and differences of those that fragments are made of, are exact there.
template <ElementType type, class Operation>
std::uint32_t in_halves(std::uint32_t a, std::uint32_t b, const Operation& operation) {
  using Number = Element<type>;
  std::uint32_t result = 0;
  for (unsigned half = 0; half < 2; ++half) {
    const auto number = [&](std::uint32_t pair) {
      return float{Number::from_bits(static_cast<std::uint16_t>(pair >> 16 * half))};
    };
    result |= std::uint32_t{Number(operation(number(a), number(b))).bits} << 16 * half;
  }
  return result;
}
}  // namespace detail
#endif

// mul.rn.bf16x2 d, a, b;  PTX 7.8, sm_90.  mul.rn.f16x2;  PTX 4.2, sm_53
// Before sm_90: fma.rn.bf16x2 d, a, b, -0;  PTX 7.0, sm_80.  The sum with -0 is the product.
template <ElementType type>
TW_DEVICE std::uint32_t multiply_pairs(std::uint32_t a, std::uint32_t b) {
  static_assert(type == ElementType::Bf16 || type == ElementType::Fp16,
                "Two numbers of 16 bits share a register.");
#if defined(__CUDACC__)
  std::uint32_t result;
  if constexpr (type == ElementType::Bf16)
#if __CUDA_ARCH__ >= 900
    asm("mul.rn.bf16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
#else
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(0x80008000u));
#endif
  else
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return detail::in_halves<type>(a, b, [](float x, float y) { return x * y; });
#endif
}

// sub.rn.bf16x2 d, a, b;  PTX 7.8, sm_90.  sub.rn.f16x2;  PTX 4.2, sm_53
// Before sm_90: fma.rn.bf16x2 d, b, -1, a;  PTX 7.0, sm_80.
template <ElementType type>
TW_DEVICE std::uint32_t subtract_pairs(std::uint32_t a, std::uint32_t b) {
  static_assert(type == ElementType::Bf16 || type == ElementType::Fp16,
                "Two numbers of 16 bits share a register.");
#if defined(__CUDACC__)
  std::uint32_t result;
  if constexpr (type == ElementType::Bf16)
#if __CUDA_ARCH__ >= 900
    asm("sub.rn.bf16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
#else
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(b), "r"(0xBF80BF80u), "r"(a));
#endif
  else
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
#else
  return detail::in_halves<type>(a, b, [](float x, float y) { return x - y; });
#endif
}

// mov.b32 {low, high}, a;  mov.b32 d, {half, half};  PTX 1.0, sm_10
// One half of a register in both. The multiplications above take it as it is: no instruction is
// left of it, as one would be of a permutation of bytes.
TW_DEVICE std::uint32_t half_twice(std::uint32_t halves, unsigned half) {
#if defined(__CUDACC__)
  std::uint32_t result;
  if (half == 0)
    asm("{.reg .b16 low, high; mov.b32 {low, high}, %1; mov.b32 %0, {low, low};}"
        : "=r"(result)
        : "r"(halves));
  else
    asm("{.reg .b16 low, high; mov.b32 {low, high}, %1; mov.b32 %0, {high, high};}"
        : "=r"(result)
        : "r"(halves));
  return result;
#else
  const std::uint32_t kept = halves >> 16 * half & 0xFFFF;
  return kept << 16 | kept;
#endif
}

#if defined(__CUDACC__)
// No constants to the compiler, for a program may write them.
static __constant__ std::uint32_t powers_of_two[8] = {1, 2, 4, 8, 16, 32, 64, 128};
#endif

// mul.lo.u32 d, a, [power of two];  PTX 1.0, sm_10
// A shift to the left by the pipe of multiplications, of which the compiler would make shifts.
template <unsigned bits>
TW_DEVICE std::uint32_t shifted_by_product(std::uint32_t value) {
  static_assert(bits < 8, "The table has factors up to 128.");
#if defined(__CUDACC__)
  return value * powers_of_two[bits];
#else
  return value << bits;
#endif
}

}  // namespace tw::isa
