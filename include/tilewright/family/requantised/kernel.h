// Blockwise FP8 whose D is quantised again, e4m3 with a scale for each 128 columns of a row, so
// that it is the A of the next product: the same with another epilogue. Rows may come in groups,
// and blocks of columns as gate and up in turns.
#pragma once

#include <type_traits>

#include "tilewright/bind/grouped_by.h"
#include "tilewright/bind/scaled_by.h"
#include "tilewright/epilogue/block_quantised.h"
#include "tilewright/epilogue/gated_blocks.h"

namespace tw {

// Blocks of 128 columns are gate and up in turns: a tile has both of an output.
template <class Recipe>
struct GatedBy : Recipe {
  static constexpr bool gates_blocks = true;
  static consteval RoleTable roles(const RoleTable& table, const MatmulConfig& config) {
    require(config.tiling.n == 256 && config.tiling.cluster.n == 1,
            "A tile must have one block of gate, and the block of up behind it.");
    return Recipe::roles(table, config);
  }
  template <MatmulConfig config, class TargetStore>
  using Store = JoinedStore<TargetStore>;
};

template <class Recipe>
constexpr bool gates_blocks = false;
template <class Recipe>
requires(Recipe::gates_blocks) constexpr bool gates_blocks<Recipe> = true;

template <class Recipe>
struct RequantisedRecipe : Recipe {
  static constexpr bool in_groups = is_grouped<Recipe>;
  static_assert(
      Recipe::b_scale_rows % 128 == 0,
      "Tiles begin at whole blocks of 128 columns only where 128 rows of B share a scale.");
  static consteval RoleTable roles(const RoleTable& table, const MatmulConfig& config) {
    require(config.d_type == ElementType::E4m3, "What is quantised again is e4m3.");
    require(config.tiling.n % 128 == 0,
            "Tiles must begin and end with whole blocks of 128 columns.");
    return Recipe::roles(table, config);
  }
  template <MatmulConfig, bool elected>
  using Epilogue = std::conditional_t<gates_blocks<Recipe>, GatedBlocks<RowBlockScales>,
                                      BlockQuantised<RuntimeEpilogue>>;
};

using RequantisedConfig = MatmulConfig;
template <class Page, class Recipe, class Named>
using Requantised = Kernel<Page, RequantisedRecipe<Recipe>, Named>;

}  // namespace tw
