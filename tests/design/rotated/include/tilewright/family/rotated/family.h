// Products of rotated rows: the description of their problem.
#pragma once

#include "tilewright/family/rotated/problem.h"
#include "tilewright/launch/more_fields.h"
#include "tilewright/launch/product_fields.h"

namespace tw {

struct RotatedFamily {
  using Problem = tw_rotated_problem;
  using Matmul = tw_matmul_problem;
  using Product = ProductFields<&Problem::matmul>;
  static constexpr IntegerField numbers[] = {
      number<&Problem::matmul, &Matmul::m>("m", {.meaning = "rows of A", .usual = 200}), Product::n,
      Product::k, derived<&Problem::matmul, &Matmul::batch>("batch", {.usual = 1, .initial = 1}),
      number<&Problem::shift>("shift", {.meaning = "row 0 of D is made of it", .usual = 3})};
  static constexpr TensorField tensors[] = {
      Product::a([](const Problem& p) {
        return TensorExtents{1, p.matmul.m, p.matmul.k};
      }),
      Product::b([](const Problem& p) {
        return TensorExtents{1, p.matmul.k, p.matmul.n};
      }),
      Product::d([](const Problem& p) {
        return TensorExtents{1, p.matmul.m, Product::output_columns(p)};
      })};
  static constexpr ProductField product = Product::product(0, 1, 2, [](const Problem& p) {
    return TensorExtents{1, p.matmul.m, p.matmul.n};
  });
  static constexpr Description description = {"rotated",
                                              "a product with A's rows rotated",
                                              "computes this product",
                                              sizeof(Problem),
                                              numbers,
                                              {},
                                              {},
                                              tensors,
                                              &product};
};

}  // namespace tw
