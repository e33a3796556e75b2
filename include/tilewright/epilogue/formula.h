// The activations, value by value. All pass NaN on.
#pragma once

#include <cmath>

#include "tilewright/base/annotate.h"
#include "tilewright/isa/scalar.h"

namespace tw::formula {

struct Relu {
  TW_DEVICE float operator()(float value) const { return isa::max_nan(value, 0.0f); }
};

// The exact one, by the error function; not the approximation by tanh.
struct Gelu {
  TW_DEVICE float operator()(float value) const {
    const float half = 0.5f * value;
    return half + half * isa::erf(value * 0.70710678118654752f);
  }
};

struct Silu {
  TW_DEVICE float operator()(float value) const {
    return value * isa::rcp_approx(1.0f + std::exp(-value));
  }
};

struct Tanh {
  TW_DEVICE float operator()(float value) const { return isa::tanh(value); }
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
