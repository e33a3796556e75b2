// What families that are a product with scales of blocks of 128 of k share in their descriptions:
// numbers, rules and tensors of any problem that has a tw_matmul_problem `matmul`, a_scales and
// b_scales.
#pragma once

#include <algorithm>

#include "tilewright/launch/more_fields.h"
#include "tilewright/launch/product_fields.h"
#include "tilewright/launch/scale_fields.h"

namespace tw {

template <class P>
struct ScaledOperands {
  using Problem = P;
  static constexpr std::int64_t rows_of_a(const P& p) { return p.matmul.m; }
  static constexpr std::int64_t matrices_of_a(const P& p) { return p.matmul.batch; }
  static constexpr bool is_scaled(const P& p) {
    return std::min({p.matmul.m, p.matmul.n, p.matmul.k, p.matmul.batch}) > 0;
  }
};

template <class P>
struct ScaledProductFields : ScaledOperands<P> {
  using Product = ProductFields<&P::matmul>;
  using Scales = ScaleFields<ScaledOperands<P>>;

  static constexpr IntegerField numbers[] = {Product::m, Product::n, usually(500, Product::k),
                                             Product::batch, Scales::b_rows};
  static constexpr Rule rules[] = {Product::is_sized, Scales::a_fits, Scales::b_fits};

  enum TensorIndex : unsigned { a, b, a_scales, b_scales, d };
  static constexpr TensorField tensors[] = {
      Product::a([](const P& p) {
        return TensorExtents{p.matmul.batch, p.matmul.m, p.matmul.k};
      }),
      Product::b([](const P& p) {
        return TensorExtents{p.matmul.batch, p.matmul.k, p.matmul.n};
      }),
      Scales::a, Scales::b, Product::d([](const P& p) {
        return TensorExtents{p.matmul.batch, p.matmul.m, Product::output_columns(p)};
      })};
  static constexpr ProductField product = Product::product(a, b, d, [](const P& p) {
    return TensorExtents{p.matmul.batch, p.matmul.m, p.matmul.n};
  });
};

}  // namespace tw
