// Random blockwise FP8 products for an instance: the same for tests, the fuzzer and the GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "src/blockwise_fp8/task.h"

namespace tw::blockwise {

using Random = std::mt19937_64;
inline std::int64_t between(Random& random, std::int64_t first, std::int64_t last) {
  return first + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(last - first + 1));
}

// Ragged everywhere, all layouts of scales, up to ten blocks of k; m often small.
inline BlockwiseShape random_shape(const BlockwiseInstance& instance, Random& random) {
  BlockwiseShape shape = shape_for(instance);
  MatmulShape& matmul = shape.matmul;
  const auto most_rows =
      instance.config.tiling.loaded_rows != 0 ? instance.config.tiling.loaded_rows : 300u;
  matmul.m = between(random, 1, random() % 3 == 0 ? std::min(most_rows, 16u) : most_rows);
  matmul.n = between(random, 1, 300);
  matmul.k = between(random, 1, random() % 3 == 0 ? 1280 : 300);
  if (random() % 8 == 0) matmul.k = 128 * between(random, 1, 4);
  if (random() % 5 == 0) matmul.batch = 2;
  matmul.shared_b = matmul.batch > 1 && random() % 2 == 0;
  const auto major = [&] { return random() % 2 == 0 ? Major::K : Major::MN; };
  shape.a_scales = major();
  shape.b_scales = major();
  shape.unaligned_scales = random() % 2 == 0;
  matmul.epilogue.column_bias = random() % 3 == 0;
  if (random() % 3 == 0) matmul.epilogue.beta = 1.0f;
  if (random() % 4 == 0) matmul.epilogue.activation = Activation::Relu;
  if (random() % 6 == 0) {
    matmul.n += matmul.n % 2;
    matmul.epilogue.gated = true;
  }
  return shape;
}
inline MatmulOrder random_order(const BlockwiseInstance& instance, Random& random) {
  MatmulOrder order;
  if (instance.config.split == Split::Parts) order.split_k = static_cast<int>(1 + random() % 4);
  return order;
}

}  // namespace tw::blockwise
