// Random convolutions, the same for the virtual GPU and the real one.
#pragma once

#include "src/conv2d/random_shape.h"
#include "tests/families/seed.h"

namespace tw::tests {

using namespace conv2d;

// The shape, or where the instance takes those only, the depthwise one or the one of full tiles of
// groups like it.
inline Conv2dShape suited(const Conv2dInstance& instance, Conv2dShape shape) {
  if (takes_full_tiles_of_groups(instance) &&
      !instance.supports(conv2d_anywhere(shape), {}).is_good()) {
    make_full_tiles_of_groups(shape, std::int64_t{4} << shape.n % 4, 2, 4);
  }
  if (!instance.depthwise) return shape;
  shape.groups = shape.c;
  shape.k = std::max<std::int64_t>(1, shape.k / shape.c) * shape.c;
  return shape;
}

}  // namespace tw::tests
