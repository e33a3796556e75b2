// Random matrices to quantise, the same for the virtual GPU and the real one.
#pragma once

#include "src/quantise/random_shape.h"
#include "tests/families/seed.h"

namespace tw::tests {

using quantise::fills;
using quantise::Random;
using quantise::random_shape;

}  // namespace tw::tests
