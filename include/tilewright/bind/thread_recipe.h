// A recipe whose operands threads copy, whatever brings them on the target.
#pragma once

#include "tilewright/base/require.h"
#include "tilewright/bind/config.h"
#include "tilewright/io/completion.h"

namespace tw {

// Any recipe, with four warps that load as `Copies` do; three where the fourth brings scales.
template <class Recipe, template <Tiling, unsigned warps, Completion> class Copies>
struct ThreadRecipe : Recipe {
  // A TileOp that reads what TMA writes reads through the async proxy: threads must fence for it.
  template <class Target, Tiling tiling, RoleTable table>
  static constexpr Completion completion =
      Target::template Loader<tiling, table>::elected ? Completion::WarpsArriveFenced
                                                      : Completion::WarpsArrive;
  template <class Target, Tiling tiling, RoleTable table>
  using Loader = Copies<tiling, table.load.warps, completion<Target, tiling, table>>;

  static consteval RoleTable roles(const RoleTable& given, const MatmulConfig& config) {
    RoleTable table = Recipe::roles(given, config);
    require(!table.schedule.played() && !table.source.played(),
            "Where threads copy, nobody asks for work or brings sources.");
    const bool fits = table.load.first_warp + 4 <= table.multiply.first_warp;
    const bool shares = fits && table.own[0].spec.played();
    if (shares) table.own[0].spec = {table.load.first_warp + 3, 1};
    table.load = {fits ? table.load.first_warp : table.warps(), shares ? 3u : 4u, 56};
    if (table.shifts_registers()) table.multiply.registers = 224;
    return table;
  }
};

}  // namespace tw
