// Recipes with block scales on targets whose tensor cores know none: products of bf16 with a loader
// that multiplies elements by their scales. They are right, not fast.
#pragma once

#include "tilewright/bind/recipe.h"
#include "tilewright/bind/thread_recipe.h"
#include "tilewright/io/scaled_conversion.h"

namespace tw {

template <template <Tiling, unsigned warps, Completion> class Conversion,
          class Recipe = MatmulRecipe>
struct ConvertedBy : ThreadRecipe<Recipe, Conversion> {
  static constexpr BlockScaling block_scaling = BlockScaling::Converted;
  using Base = ThreadRecipe<Recipe, Conversion>;
  static consteval RoleTable roles(const RoleTable& given, const MatmulConfig& config) {
    require(config.tiling.a_type == ElementType::Bf16 && config.tiling.b_type == ElementType::Bf16,
            "Elements with block scales are converted to bf16.");
    RoleTable table = Base::roles(given, config);
    if (table.shifts_registers()) table.load.registers = 104;  // to convert takes more than to copy
    return table;
  }
};

}  // namespace tw
