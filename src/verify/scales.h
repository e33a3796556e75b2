// Scales of blocks in cases: their shapes, their numbers, and how far sums with them may be off.
#pragma once

#include <cmath>
#include <random>

#include "src/verify/case.h"
#include "tilewright/launch/scale_fields.h"

namespace tw {

// Shapes them for a kernel in which so many rows of B share a scale. `Family` has Scales, the
// ScaleFields of its problem.
template <class Family>
void settle_scales(typename Family::Problem& problem, unsigned b_scale_rows) {
  if (!Family::is_scaled(problem)) return;
  const ScalesOfBlocks a = Family::Scales::of_a(problem);
  ScalesOfBlocks b = Family::Scales::of_b(problem);
  b.rows_of_scale = b_scale_rows;
  problem.a_scales.rows = a.rows();
  problem.b_scales.rows = b.rows();
  problem.a_scales.k_blocks = problem.b_scales.k_blocks = a.k_blocks();
}

// Integers up to `most` that float32 holds after any product with a partial sum: 128 products of
// integers up to 4 stay below 2^12. Where one element is selected, powers of two tell the place.
inline void fill_block_scales(HostMatrix& scales, Fill fill, int most, std::mt19937_64& random) {
  std::uniform_real_distribution<double> between(0.001, 2.0);
  scales.fill([&](std::int64_t, std::int64_t, std::int64_t) -> double {
    if (fill == Fill::Normal) return between(random);
    const auto drawn = static_cast<int>(random() % static_cast<unsigned>(most));
    return fill == Fill::Position ? std::ldexp(1.0, drawn) : drawn + 1;
  });
}

template <class Family>
void fill_scales(HostProblem& data, const Case& of) {
  std::mt19937_64 random(of.seed + 2);
  fill_block_scales(data.tensor(Family::a_scales), of.fill, 7, random);
  fill_block_scales(data.tensor(Family::b_scales), of.fill, 5, random);
}

// The tensor core's short sums are of a block. Of integers they are exact; what follows is float32,
// as are the sums of longer types.
inline MatmulShape summed_by_blocks(MatmulShape shape, Fill fill) {
  shape.k = std::min<std::int64_t>(shape.k, 128);
  if (fill != Fill::Normal) shape.a_type = ElementType::Bf16;
  return shape;
}

}  // namespace tw
