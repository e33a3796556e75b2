// exp, erf, tanh and 1 / x of our own: the same bits on every target, the virtual GPU among them.
// Every multiplication that an addition follows is fused by name, so that compilers have no choice.
// Constants were fitted at Chebyshev nodes.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "tilewright/base/annotate.h"
#include "tilewright/isa/scalar.h"

namespace tw::elementary {

template <unsigned count>
TW_DEVICE float polynomial(float x, const float (&coefficients)[count]) {
  float sum = coefficients[count - 1];
  TW_UNROLL
  for (unsigned i = count - 1; i > 0; --i) sum = std::fma(sum, x, coefficients[i - 1]);
  return sum;
}

// For x from -87 to 87: at most 2e-7 of its value from the exponential function.
TW_DEVICE float exp(float x) {
  // A number that is added to 1.5 * 2^23 is rounded to an integer, in the lowest bits.
  constexpr float shift = 12582912.0f;
  const float shifted = std::fma(x, 1.44269504f, shift);
  const float power = shifted - shift;
  // ln 2 is subtracted in two parts.
  const float rest = std::fma(power, 1.904654300e-09f, std::fma(power, -0.693147182f, x));
  const float scale =
      std::bit_cast<float>((std::bit_cast<std::uint32_t>(shifted) << 23) + 0x3f800000u);
  return scale * polynomial(rest, {1.0f, 1.0f, 0.5f, 1.666657667e-01f, 4.166655421e-02f,
                                   8.363232884e-03f, 1.392625083e-03f});
}

// Newton's step. From any `near` that is at most an ulp from 1 / x it comes to 1 / x as rounded to
// nearest, if the last bit of x is 0.
TW_DEVICE float refined_reciprocal(float x, float near) {
  return std::fma(near, std::fma(-x, near, 1.0f), near);
}

// For x from 1 to 2^126: at most 2e-7 of its value from 1 / x.
TW_DEVICE float reciprocal(float x) {
  const float even = std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & ~1u);
  return refined_reciprocal(even, isa::rcp_approx(even));
}

// At most 3e-7 from the error function. NaN stays NaN.
TW_DEVICE float erf(float x) {
  const float size = std::fabs(x);
  const float near_zero = std::fma(
      x,
      polynomial(x * x, {1.283791658e-01f, -3.761262667e-01f, 1.128359472e-01f, -2.685421201e-02f,
                         5.189087423e-03f, -8.016864287e-04f, 7.875875063e-05f}),
      x);
  // 1 - erf is exp(-g); from 4 on it is nothing beside 1.
  const float capped = std::fmin(size, 4.0f);
  const float g = std::fma(
      capped,
      polynomial(capped, {1.286351144e-01f, 6.351093577e-01f, 1.064411900e-01f, -2.403259968e-02f,
                          3.805152934e-03f, -3.691623806e-04f, 1.630929071e-05f}),
      capped);
  const float beyond = std::copysign(1.0f - exp(-g), x);
  return size > 1.0f ? beyond : near_zero;
}

// At most 4e-7 of its value from tanh. NaN stays NaN.
TW_DEVICE float tanh(float x) {
  const float size = std::fabs(x);
  const float square = x * x;
  const float near_zero =
      std::fma(x * square,
               polynomial(square, {-3.333333323e-01f, 1.333331287e-01f, -5.396155178e-02f,
                                   2.178832200e-02f, -8.410070802e-03f, 2.370765640e-03f}),
               x);
  const float capped = std::fmin(size, 10.0f);
  const float beyond =
      std::copysign(std::fma(-2.0f, reciprocal(exp(2.0f * capped) + 1.0f), 1.0f), x);
  return size > 0.6f ? beyond : near_zero;
}

// 1 / (1 + exp(-x)): at most 5e-7 of its value from it, and 0 below -87.
TW_DEVICE float logistic(float x) {
  const float capped = std::fmax(std::fmin(-x, 87.0f), -87.0f);
  const float result = reciprocal(1.0f + exp(capped));
  return x < -87.0f ? 0.0f : result;
}

}  // namespace tw::elementary
