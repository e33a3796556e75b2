// The activations, value by value: the same bits on every target. All pass NaN on.
#pragma once

#include <cmath>

#include "tilewright/base/annotate.h"
#include "tilewright/epilogue/elementary.h"
#include "tilewright/isa/scalar.h"

namespace tw::formula {

struct Relu {
  TW_DEVICE float operator()(float value) const { return isa::max_nan(value, 0.0f); }
};

// The exact one, by the error function; not the approximation by tanh.
struct Gelu {
  TW_DEVICE float operator()(float value) const {
    const float half = 0.5f * value;
    return std::fma(half, elementary::erf(value * 0.70710678118654752f), half);
  }
};

struct Silu {
  TW_DEVICE float operator()(float value) const { return value * elementary::logistic(value); }
};

struct Tanh {
  TW_DEVICE float operator()(float value) const { return elementary::tanh(value); }
};

struct Identity {
  TW_DEVICE float operator()(float value) const { return value; }
};

struct Clamp {
  float low;
  float high;
  TW_DEVICE float operator()(float value) const {
    return value < low ? low : value > high ? high : value;
  }
};

}  // namespace tw::formula
