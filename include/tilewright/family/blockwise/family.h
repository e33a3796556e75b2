// FP8 with scales of blocks: the description of its problem.
#pragma once

#include <algorithm>

#include "tilewright/family/blockwise/problem.h"
#include "tilewright/launch/product_fields.h"
#include "tilewright/launch/scale_fields.h"

namespace tw {

// Serves any problem that has a tw_matmul_problem `matmul`, a_scales and b_scales.
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
struct BlockwiseFields : ScaledOperands<P> {
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

struct BlockwiseFamily : BlockwiseFields<tw_blockwise_problem> {
  // family block_scaled: begin
  static constexpr auto numbers =
      joined(BlockwiseFields::numbers,
             {flag<&Problem::powers_of_two>("powers_of_two", "scales are powers of two")});
  // family block_scaled: end
  static constexpr Description description = {"blockwise",
                                              "FP8 with scales of blocks of 128",
                                              "computes this product with scales of blocks",
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
