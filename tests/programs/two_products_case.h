// A problem of D = A B^T + C E^T with integers, whose D is exact in bf16, and its reference.
#pragma once

#include "src/verify/data.h"
#include "tests/programs/two_products.h"
#include "tilewright/launch/product.h"

namespace tw::programs {

struct Tile {
  static constexpr MatmulConfig config = {.tiling = {.m = 64, .n = 64}, .multiply_groups = 1};
};

struct Case {
  MatmulShape shape;
  MatmulData first, second;

  Case(int m, int n, int k, std::uint64_t seed) {
    shape.m = m;
    shape.n = n;
    shape.k = k;
    first = make_matmul_data(shape, Fill::Integers, seed);
    second = make_matmul_data(shape, Fill::Integers, seed + 1);
  }
  // Wrong elements of first.d; those that nobody wrote are poison.
  std::int64_t wrong() const {
    std::int64_t count = first.d.padding_touched();
    for (int row = 0; row < shape.m; ++row) {
      for (int column = 0; column < shape.n; ++column) {
        double sum = 0;
        for (int i = 0; i < shape.k; ++i) {
          sum += first.a.at(0, row, i) * first.b.at(0, column, i) +
                 second.a.at(0, row, i) * second.b.at(0, column, i);
        }
        count += first.d.at(0, row, column) != rounded_to(ElementType::Bf16, sum);
      }
    }
    return count;
  }
};

// Plans both products: the first as a matmul is, the second's operands for the program's own role.
template <class Kernel, class Encode>
Status plan_two(typename kernel::WarpSpecialized<Kernel>::Params& params, MatmulGrid& grid,
                const MatmulProblem& first, const MatmulProblem& second, unsigned max_clusters,
                const Encode& encode) {
  Status planned = plan<Kernel>(params, grid, first, {}, max_clusters, {}, encode);
  if (!planned.is_good()) return planned;
  return detail::fill_loader<typename Kernel::Loader>(params.own, second, encode);
}

}  // namespace tw::programs
