// Random products with a quantised D, the same for the virtual GPU and the real one.
#pragma once

#include <cstdint>
#include <random>

#include "src/requantised/task.h"
#include "tests/families/seed.h"

namespace tw::tests {

using Random = std::mt19937_64;
inline std::int64_t between(Random& random, std::int64_t first, std::int64_t last) {
  return first + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(last - first + 1));
}

// Ragged everywhere, all layouts of scales, exact epilogues.
inline RequantisedShape random_shape(const RequantisedInstance& instance, Random& random) {
  RequantisedShape shape = shape_for(instance);
  MatmulShape& matmul = shape.product.matmul;
  matmul.m = between(random, 1, random() % 3 == 0 ? 16 : 300);
  matmul.n = between(random, 1, random() % 3 == 0 ? 500 : 300);
  matmul.k = between(random, 0, 300);
  if (random() % 4 == 0) matmul.n = 128 * between(random, 1, 3);
  if (random() % 5 == 0) matmul.batch = 2;
  const auto major = [&] { return random() % 2 == 0 ? Major::K : Major::MN; };
  shape.product.a_scales = major();
  shape.product.b_scales = major();
  shape.scales = major();
  shape.product.unaligned_scales = random() % 2 == 0;
  shape.rule = random() % 3 == 0 ? BlockScale::power_of_two : BlockScale::real;
  matmul.epilogue.column_bias = random() % 3 == 0;
  if (random() % 3 == 0) matmul.epilogue.beta = 1.0f;
  if (random() % 3 == 0) matmul.epilogue.activation = Activation::Relu;
  return shape;
}

}  // namespace tw::tests
