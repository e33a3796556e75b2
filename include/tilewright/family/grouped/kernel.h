// Groups: the rows of A and D come in groups, each of which meets a B of its own; rows may be
// gathered.
#pragma once

#include "tilewright/bind/grouped_by.h"
#include "tilewright/bind/scaled_by.h"
#include "tilewright/bind/thread_recipe.h"
#include "tilewright/family/grouped/gather.h"
#include "tilewright/isa/has_ptx.h"
#if TW_HAS_PTX
#include "tilewright/bind/block_scaled_by.h"
#include "tilewright/bind/converted_by.h"
#endif

namespace tw {

// Rows of A are gathered, and with them what has a row for each.
template <class Recipe>
struct GatheredRecipe : ThreadRecipe<Recipe, GatherLoader> {
  static consteval RoleTable roles(const RoleTable& table, const MatmulConfig& config) {
    require(config.tiling.swap_ab == 0,
            "Rows are gathered of a kernel's A: there is no swap_ab.");
    return ThreadRecipe<Recipe, GatherLoader>::roles(table, config);
  }
  template <class Scales>
  struct GatheredScales {
    using Type = Gathered<Scales>;
  };
  template <class Scales>
  requires(Scales::arrivals == 0) struct GatheredScales<Scales> {
    using Type = Scales;
  };
  template <Tiling tiling, RoleTable table>
  using Scales = typename GatheredScales<typename Recipe::template Scales<tiling, table>>::Type;
};

// Rows of A as they lie or gathered, operands of any layout and alignment.
template <class Recipe>
struct AnyRowsRecipe : ThreadRecipe<Recipe, AnyRowsLoader> {};

#if TW_HAS_PTX
// The same of elements with block scales. Groups have one A, whose scales are there once.
template <Tiling tiling, unsigned warps, Completion how>
using ScaledRowsLoader = Gathered<ScaledConversion<tiling, warps, how, true>, false>;
using GroupedConversion = ConvertedBy<ScaledRowsLoader>;
#endif

using GroupedConfig = MatmulConfig;
template <class Page, class Recipe, class Named>
using Grouped = Kernel<Page, GroupedBy<Recipe>, Named>;

}  // namespace tw
