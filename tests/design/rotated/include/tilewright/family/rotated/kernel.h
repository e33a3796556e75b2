// D = epilogue(A' B), where row i of A' is row (i + shift) mod m of A.
#pragma once

#include "tilewright/bind/recipe.h"
#include "tilewright/bind/thread_recipe.h"
#include "tilewright/io/async_copy.h"
#include "tilewright/io/thread_loader.h"
#include "tilewright/launch/product_fields.h"

namespace tw {

struct RotatedProblem {
  std::size_t size;
  std::uint64_t family;
  tw_matmul_problem matmul;
  std::int64_t shift;
};

template <Tiling tiling, unsigned warps, Completion how>
struct RotatedLoader : ThreadLoader<tiling, AsyncCopy, warps, how> {
  using Base = ThreadLoader<tiling, AsyncCopy, warps, how>;
  struct Params : Base::Params {
    int shift = 0;
  };
  TW_DEVICE RotatedLoader(const Params& params, unsigned thread) : Base(params, thread) {}

  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    const Params& params = static_cast<const Params&>(this->params_);
    this->load_rows(stage, tile, k, [&](int row) {
      const int rows = params.a.rows, from = row + params.shift;
      return row >= rows ? rows : from < rows ? from : from - rows;
    });
  }
};
using RotatedRecipe = ThreadRecipe<MatmulRecipe, RotatedLoader>;

using RotatedConfig = MatmulConfig;
template <class Page, class Named>
using Rotated = Kernel<Page, RotatedRecipe, Named>;

struct RotatedFamily {
  using Problem = RotatedProblem;
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
