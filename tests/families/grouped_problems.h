// Random grouped products, the same for the virtual GPU and the real one.
#pragma once

#include "src/grouped/random_shape.h"
#include "tests/families/seed.h"

namespace tw::tests {

using grouped::between;
using grouped::Random;
using grouped::random_shape;

}  // namespace tw::tests
