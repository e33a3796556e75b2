// Recipes whose scales of blocks of 128 of k are powers of two: these are block scales, with which
// the tensor core multiplies, and sums stay in tensor memory over all of k.
#pragma once

#include "tilewright/bind/block_scaled_by.h"
#include "tilewright/io/scale_exponents.h"

namespace tw {

template <Tiling tiling, class Loader, class Scales, RoleArrivals reads>
struct ExponentsPayload : MatmulPayload<tiling, Loader, Scales, reads, reads> {
  static constexpr Space space = Space::Tensor;
};

// `b_rows` rows of the caller's B share a scale: 1 or 128.
template <unsigned b_rows, class Recipe = MatmulRecipe>
struct ScaledByExponents : BlockScaledBy<ScaleType::Ue8m0, Recipe> {
  static constexpr BlockScaling block_scaling = BlockScaling::None;  // the caller has no such
  static constexpr unsigned b_scale_rows = b_rows;
  static constexpr bool takes_exponents = true;
  static consteval RoleTable roles(const RoleTable& table, const MatmulConfig& config) {
    require(config.split == Split::Whole, "Scales are read from the first of k on: no parts.");
    return BlockScaledBy<ScaleType::Ue8m0, Recipe>::roles(table, config).with(Role::LoadScales);
  }
  template <class Target, Tiling tiling, RoleTable table>
  using Loader = typename Recipe::template Loader<Target, tiling, table>;
  template <Tiling tiling, RoleTable>
  using Scales = ScaleExponents<tiling, b_rows>;
  template <Tiling tiling, class Loader, class Scales, RoleArrivals reads, RoleArrivals>
  using Payload = ExponentsPayload<tiling, Loader, Scales, reads>;
};

}  // namespace tw
