// Products of matrices: the description of their problem.
#pragma once

#include "tilewright/launch/product_fields.h"

namespace tw {

struct MatmulFamily {
  using Problem = tw_matmul_problem;
  using Product = ProductFields<>;

  static constexpr IntegerField numbers[] = {
      number<&Problem::m>("m", {.meaning = "rows of A and D", .usual = 257}),
      number<&Problem::n>("n", {.meaning = "columns of B and D", .usual = 129}),
      number<&Problem::k>("k", {.meaning = "columns of A, rows of B", .usual = 200}),
      number<&Problem::batch>("batch",
                              {.meaning = "products side by side", .usual = 1, .initial = 1}),
      flag<&Problem::b_is_constant>("b_is_constant",
                                    "B was complete before the work before this began")};

  // A gate makes no column of a single one: without this rule such a problem would be empty.
  static constexpr Rule rules[] = {rule(
      [](const Problem& p) {
        return p.epilogue.gated == 0 || p.n % 2 == 0 || p.m == 0 || p.batch == 0;
      },
      [](const Problem& p) {
        return sentence("n is {}, but a gate needs pairs of columns: an even n.", p.n);
      })};

  enum TensorIndex : unsigned { a, b, d };
  static constexpr TensorField tensors[] = {
      Product::a([](const Problem& p) {
        return TensorExtents{p.batch, p.m, p.k};
      }),
      constant_where([](const Problem& p) { return p.b_is_constant != 0; },
                     Product::b([](const Problem& p) {
                       return TensorExtents{p.batch, p.k, p.n};
                     })),
      Product::d([](const Problem& p) {
        return TensorExtents{p.batch, p.m, Product::output_columns(p)};
      })};
  static constexpr ProductField product = Product::product(a, b, d, [](const Problem& p) {
    return TensorExtents{p.batch, p.m, p.n};
  });

  static constexpr Description description = {"matmul",
                                              "a product of matrices",
                                              "computes this product",
                                              sizeof(Problem),
                                              numbers,
                                              {},
                                              rules,
                                              tensors,
                                              &product,
                                              {},
                                              true};
};

}  // namespace tw
