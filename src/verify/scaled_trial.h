// What a family that is a product with scales of blocks needs in cases, but for its answer.
#pragma once

#include "src/verify/product.h"
#include "src/verify/scales.h"
#include "tilewright/launch/scaled_product_fields.h"

namespace tw {

// `Family` has ScaledProductFields.
template <class Family>
struct ScaledTrial {
  using Problem = typename Family::Problem;

  static void adopt(void* problem, const Instance& instance, const IsGiven& is_given) {
    adopt_types(problem, Family::description, instance, is_given);
  }

  static Status settle(void* given, const Lists&, const Instance& instance) {
    settle_scales<Family>(*static_cast<Problem*>(given), product_facts(instance).b_scale_rows);
    return Status::good();
  }

  // Ragged everywhere, up to ten blocks of k; m often small.
  static void random(Case& made, Random& random) {
    tw_matmul_problem& matmul = made.as<Problem>().matmul;
    const std::int64_t few = config_of(*made.instance).tiling.loaded_rows;
    const std::int64_t most_rows = few != 0 ? few : 300;
    matmul.m =
        between(random, 1, random() % 3 == 0 ? std::min<std::int64_t>(most_rows, 16) : most_rows);
    matmul.n = between(random, 1, random() % 3 == 0 ? 500 : 300);
    if (random() % 4 == 0) matmul.n = 128 * between(random, 1, 3);
    matmul.k = between(random, random() % 8 == 0 ? 0 : 1, random() % 3 == 0 ? 1280 : 300);
    if (random() % 8 == 0) matmul.k = 128 * between(random, 1, 4);
    if (random() % 5 == 0) matmul.batch = 2;
  }

  static void fill(HostProblem& data, const Case& of) {
    take_product(data, make_matmul_data(product_shape(of), of.fill, of.seed));
    fill_scales<Family>(data, of);
  }

  static MatmulReference reference(const Case& of, const HostProblem& given) {
    const MatmulShape shape = product_shape(of);
    std::vector<ProductLine> lines;
    for (std::int64_t batch = 0; batch < shape.batch; ++batch) {
      for (std::int64_t row = 0; row < shape.m; ++row) lines.push_back({batch, row, batch});
    }
    const MatmulSums sums =
        sums_of_lines(lines, given.tensor(Family::a), given.tensor(Family::b),
                      given.tensor(Family::a_scales), given.tensor(Family::b_scales));
    return reference_of(sums, product_data(given, of.fill), summed_by_blocks(shape, of.fill));
  }
};

}  // namespace tw
