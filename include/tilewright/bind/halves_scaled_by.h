// Recipes with scales of blocks of 128 of k for waves that take turns: each brings the scales of
// its own rows and columns.
#pragma once

#include "tilewright/bind/scaled_by.h"
#include "tilewright/io/lds_scales.h"
#include "tilewright/op/scaled_halves.h"

namespace tw {

template <unsigned b_rows, class Recipe = MatmulRecipe>
struct HalvesScaledBy : Recipe {
  static constexpr unsigned b_scale_rows = b_rows;
  static constexpr MatmulConfig asked(const MatmulConfig& given) {
    return ScaledBy<b_rows, Recipe>::asked(given);
  }
  static consteval RoleTable roles(const RoleTable& given, const MatmulConfig& config) {
    require(config.promote_every == 1, "promote_every must be 1: scales are of a stage's k.");
    return Recipe::roles(given, config);
  }
  // Two rows of waves, as their page has them.
  template <Tiling tiling>
  using ScalesOf = LdsScales<tiling, b_rows, 2, 4>;
  template <Tiling tiling, RoleTable>
  using Scales = ScalesOf<tiling>;
  template <class TargetOp, Tiling tiling, unsigned stage_bytes>
  using Op =
      ScaledHalvesOp<typename Recipe::template Op<TargetOp, tiling, stage_bytes>, ScalesOf<tiling>,
                     typename ScalesOf<tiling>::template Tensors<stage_bytes>>;
};

}  // namespace tw
