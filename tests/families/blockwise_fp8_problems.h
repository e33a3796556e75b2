// Random blockwise FP8 products, the same for the virtual GPU and the real one.
#pragma once

#include "src/blockwise_fp8/random_shape.h"
#include "tests/families/seed.h"

namespace tw::tests {

using namespace blockwise;

}  // namespace tw::tests
