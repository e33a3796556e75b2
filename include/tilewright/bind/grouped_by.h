// Recipes in groups: the rows of A and D come in groups, each of which meets a B of its own. Any
// recipe is so with another map of tiles.
#pragma once

#include "tilewright/bind/recipe.h"
#include "tilewright/schedule/group_tiles.h"

namespace tw {

template <class Recipe>
struct GroupedBy : Recipe {
  // On Hopper, to follow groups and to bring scales takes more registers than the least.
  static consteval RoleTable roles(const RoleTable& given, const MatmulConfig& config) {
    require(config.split == Split::Whole,
            "Only the device knows how many tiles there are: no parts.");
    require(config.tiling.a_major == Major::K && config.tiling.loaded_rows == 0,
            "Groups begin at any row, and have any number of them.");
    require(config.tiling.weights_first == 0,
            "Which weights a tile needs is known when groups are: none come first.");
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

template <class Recipe>
constexpr bool is_grouped = false;
template <class Recipe>
constexpr bool is_grouped<GroupedBy<Recipe>> = true;

}  // namespace tw
