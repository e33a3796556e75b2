// D = epilogue(A' B), where row i of A' is row (i + shift) mod m of A.
#pragma once

#include "tilewright/bind/recipe.h"
#include "tilewright/bind/thread_recipe.h"
#include "tilewright/io/async_copy.h"
#include "tilewright/io/thread_loader.h"

namespace tw {

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

}  // namespace tw
