// Random convolutions, the same for the virtual GPU and the real one.
#pragma once

#include "src/conv2d/random_shape.h"
#include "tests/families/seed.h"

namespace tw::tests {

using namespace conv2d;

// The shape, or where the instance takes that only, the depthwise one like it.
inline Conv2dShape suited(const Conv2dInstance& instance, Conv2dShape shape) {
  if (!instance.depthwise) return shape;
  shape.groups = shape.c;
  shape.k = std::max<std::int64_t>(1, shape.k / shape.c) * shape.c;
  return shape;
}

}  // namespace tw::tests
