// Groups: the rows of A and D come in groups, each of which meets a B of its own. Any recipe is so
// with another map of tiles.
#pragma once

#include "tilewright/bind/scaled_by.h"
#include "tilewright/bind/thread_recipe.h"
#include "tilewright/family/grouped/gather.h"
#include "tilewright/family/grouped/group_tiles.h"
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

template <class Recipe>
struct GroupedBy : Recipe {
  // On Hopper, to follow groups and to bring scales takes more registers than the least.
  static consteval RoleTable roles(const RoleTable& given, const MatmulConfig& config) {
    require(config.split == Split::Whole && config.scheduling == Scheduling::Static,
            "Only the device knows how many tiles there are: no parts, no tickets.");
    require(config.tiling.a_major == Major::K && config.tiling.loaded_rows == 0,
            "Groups begin at any row, and have any number of them.");
    RoleTable table = Recipe::roles(given, config);
    const bool has_room = table.load.registers >= 40;
    if (!table.spec_of(Role::LoadScales).played() || !table.shifts_registers() || has_room) {
      return table;
    }
    table.load.registers = 40;
    table.multiply.registers = 232;
    return table;
  }
  template <MatmulConfig config, Tiling, class TileMap>
  using Map = GroupTiles<config.tiling.cluster, typename decltype(order_of<config>())::Type,
                         static_cast<int>(config.output_rows()), config.tiling.swap_ab != 0>;
};

using GroupedConfig = MatmulConfig;
template <class Page, class Recipe, class Named>
using Grouped = Kernel<Page, GroupedBy<Recipe>, Named>;

}  // namespace tw
