// Recipes whose D is quantised as MXFP8, so that it is the A of the next product: the same with
// another epilogue.
#pragma once

#include "tilewright/bind/recipe.h"
#include "tilewright/epilogue/mx_quantised.h"

namespace tw {

template <class Recipe>
struct QuantisedD : Recipe {
  static constexpr bool quantises_d = true;
  static consteval RoleTable roles(const RoleTable& table, const MatmulConfig& config) {
    require(config.d_type == ElementType::E4m3, "A D that is quantised is e4m3.");
    return Recipe::roles(table, config);
  }
  template <MatmulConfig, bool elected>
  using Epilogue = MxQuantised<RuntimeEpilogue>;
};

}  // namespace tw
