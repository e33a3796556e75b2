// Random grouped products for an instance: the same for tests, the fuzzer and the GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "src/grouped/task.h"

namespace tw::grouped {

using Random = std::mt19937_64;
inline std::int64_t between(Random& random, std::int64_t first, std::int64_t last) {
  return first + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(last - first + 1));
}

// Up to six groups, of which some are empty, some have one row, one may have many times the
// others'; ragged columns and k; one behind the other with rows of nobody behind, or with a
// capacity.
inline GroupedShape random_shape(const GroupedInstance& instance, Random& random) {
  const auto tile = static_cast<std::int64_t>(instance.config.output_rows());
  std::vector<std::int32_t> sizes(static_cast<std::size_t>(between(random, 1, 6)));
  for (std::int32_t& size : sizes) {
    const std::int64_t sizes_of_kinds[] = {0, 1, between(random, 2, tile - 1),
                                           tile + between(random, -1, 1), between(random, 1, 30)};
    size = static_cast<std::int32_t>(sizes_of_kinds[random() % 5]);
  }
  const bool masked = random() % 3 == 0;
  if (!masked && random() % 3 == 0) {
    sizes[random() % sizes.size()] = static_cast<std::int32_t>(between(random, 2 * tile, 4 * tile));
  }
  std::int64_t capacity = 0;
  if (masked) {
    capacity = std::max<std::int64_t>(*std::max_element(sizes.begin(), sizes.end()), 1) +
               (random() % 2 == 0 ? 0 : between(random, 1, 20));
  }
  GroupedShape shape =
      shape_for(instance, sizes, random() % 2 == 0 ? 0 : between(random, 1, 150), capacity);
  if (instance.gathers) shape.a_rows = between(random, 1, random() % 4 == 0 ? 3 : 2 * tile);
  shape.matmul.n = between(random, 1, random() % 3 == 0 ? 300 : 140);
  if (random() % 2 == 0) shape.matmul.n = (shape.matmul.n + 7) / 8 * 8;
  shape.matmul.k = between(random, 1, 200);
  if (instance.b_scale_rows > 0) {
    shape.matmul.k = between(random, 1, 700);
    shape.column_scales = random() % 2 == 0;
  }
  shape.matmul.epilogue.column_bias = random() % 4 == 0;
  shape.matmul.epilogue.row_scale = random() % 4 == 0;
  if (random() % 4 == 0) shape.matmul.epilogue.beta = 1.0f;
  return shape;
}

}  // namespace tw::grouped
