// Random convolutions, the same for the virtual GPU and the real one.
#pragma once

#include "src/conv2d/random_shape.h"
#include "tests/families/seed.h"

namespace tw::tests {

using namespace conv2d;

}  // namespace tw::tests
