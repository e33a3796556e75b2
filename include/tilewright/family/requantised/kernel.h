// Blockwise FP8 whose D is quantised again, e4m3 with a scale for each 128 columns of a row, so
// that it is the A of the next product: the same with another epilogue.
#pragma once

#include "tilewright/bind/scaled_by.h"
#include "tilewright/epilogue/block_quantised.h"

namespace tw {

template <class Recipe>
struct RequantisedRecipe : Recipe {
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
  using Epilogue = BlockQuantised<RuntimeEpilogue>;
};

using RequantisedConfig = MatmulConfig;
template <class Page, class Recipe, class Named>
using Requantised = Kernel<Page, RequantisedRecipe<Recipe>, Named>;

}  // namespace tw
