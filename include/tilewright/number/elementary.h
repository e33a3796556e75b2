// erf and tanh by polynomials of our own, for targets that have no library of them. Constants were
// fitted at Chebyshev nodes; tests/number compares them with the host's functions.
#pragma once

#include <cmath>

#include "tilewright/base/annotate.h"

namespace tw {

namespace detail {

template <unsigned count>
TW_HOST_DEVICE constexpr float polynomial(float x, const float (&coefficients)[count]) {
  float sum = coefficients[count - 1];
  for (unsigned i = count - 1; i > 0; --i) sum = sum * x + coefficients[i - 1];
  return sum;
}

}  // namespace detail

// At most 3e-7 from the error function. NaN stays NaN.
TW_HOST_DEVICE inline float erf_by_polynomials(float x) {
  const float size = x < 0 ? -x : x;
  if (size < 1.0f) {
    return x * detail::polynomial(
                   x * x, {1.128379166f, -3.761262667e-01f, 1.128359472e-01f, -2.685421201e-02f,
                           5.189087424e-03f, -8.016864289e-04f, 7.875875066e-05f});
  }
  // 1 - erf is exp(-g); from 4 on it is nothing beside 1.
  const float capped = size > 4.0f ? 4.0f : size;
  const float g =
      detail::polynomial(capped, {-3.218662578e-04f, 1.130241877f, 6.318095501e-01f,
                                  1.100972425e-01f, -2.643164328e-02f, 4.763509664e-03f,
                                  -5.976772750e-04f, 4.616478517e-05f, -1.642678969e-06f});
  const float result = 1.0f - std::exp(-g);
  return x != x ? x : x < 0 ? -result : result;
}

// At most 3e-7 of its value from tanh. NaN stays NaN.
TW_HOST_DEVICE inline float tanh_by_polynomials(float x) {
  const float size = x < 0 ? -x : x;
  if (size < 0.6f) {
    const float square = x * x;
    return x +
           x * square *
               detail::polynomial(square, {-3.333333323e-01f, 1.333331287e-01f, -5.396155164e-02f,
                                           2.178832108e-02f, -8.410068244e-03f, 2.370763046e-03f});
  }
  const float capped = size > 10.0f ? 10.0f : size;
  const float result = 1.0f - 2.0f / (std::exp(2.0f * capped) + 1.0f);
  return x != x ? x : x < 0 ? -result : result;
}

}  // namespace tw
