// Recipes with block scales on targets whose waves multiply with them: of the four that load, one
// brings these.
#pragma once

#include "tilewright/bind/recipe.h"
#include "tilewright/io/wave_block_scales.h"

namespace tw {

template <class Recipe = MatmulRecipe>
struct WaveBlockScaledBy : Recipe {
  static constexpr BlockScaling block_scaling = BlockScaling::InWaves;
  static consteval RoleTable roles(const RoleTable& given, const MatmulConfig& config) {
    require(config.tiling.swap_ab == 0, "Waves have no swap_ab.");
    RoleTable fewer = given;
    --fewer.load.warps;
    return Recipe::roles(fewer, config).with(Role::LoadScales);
  }
  template <Tiling tiling, RoleTable table>
  using Scales = WaveBlockScales<tiling, table.spec_of(Role::LoadScales).warps>;
  template <class TargetOp, Tiling tiling, unsigned stage_bytes>
  using Op = typename Recipe::template Op<TargetOp, tiling, stage_bytes>::template With<
      typename WaveBlockScales<tiling, 1>::template Tensors<stage_bytes>>;
};

}  // namespace tw
