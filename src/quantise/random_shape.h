// Random matrices to quantise for an instance: the same for tests, the fuzzer and the GPU.
#pragma once

#include <cstdint>
#include <random>

#include "src/quantise/task.h"

namespace tw::quantise {

using Random = std::mt19937_64;
inline std::int64_t between(Random& random, std::int64_t first, std::int64_t last) {
  return first + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(last - first + 1));
}

inline constexpr Fill fills[] = {Fill::Normal, Fill::Integers, Fill::Normal, Fill::Position};

// Every type, layout and rule; often ragged, sometimes of whole blocks; some in a batch.
inline QuantiseShape random_shape(const QuantiseInstance& instance, Random& random) {
  constexpr ElementType sources[] = {ElementType::Bf16, ElementType::Fp16, ElementType::Fp32};
  QuantiseShape shape;
  shape.m = between(random, 1, random() % 3 == 0 ? 300 : 70);
  shape.k = between(random, 1, random() % 3 == 0 ? 700 : 300);
  if (random() % 4 == 0) shape.m = 128 * between(random, 1, 2);
  if (random() % 4 == 0) shape.k = 128 * between(random, 1, 4);
  if (random() % 4 == 0) shape.batch = between(random, 2, 3);
  shape.source_type = sources[random() % 3];
  shape.element_type = random() % 2 == 0 ? ElementType::E4m3 : ElementType::E5m2;
  shape.scale_rows = instance.scale_rows;
  shape.scales = random() % 2 == 0 ? Major::K : Major::MN;
  shape.rule = random() % 3 == 0 ? BlockScale::power_of_two : BlockScale::real;
  shape.unaligned = random() % 4 == 0;
  return shape;
}

}  // namespace tw::quantise
