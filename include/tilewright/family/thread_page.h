// A page of arch/ whose operands threads copy, whatever brings them there.
#pragma once

#include "tilewright/base/require.h"
#include "tilewright/io/completion.h"
#include "tilewright/io/tiling.h"
#include "tilewright/kernel/roles.h"

namespace tw {

// Any page, with four warps that load as `Copies` do; three where the fourth is the side role's.
template <class ArchPage, template <Tiling, unsigned warps, Completion> class Copies>
struct ThreadPage : ArchPage {
  // What TMA writes is read through the async proxy: so is then what threads write.
  template <Tiling tiling, RoleTable roles>
  static constexpr Completion completion =
      ArchPage::template Loader<tiling, roles>::elected ? Completion::WarpsArriveFenced
                                                        : Completion::WarpsArrive;
  template <Tiling tiling, RoleTable roles>
  using Loader = Copies<tiling, roles.load.warps, completion<tiling, roles>>;

  template <class Config>
  static consteval RoleTable roles(const Config& config) {
    RoleTable table = ArchPage::roles(config);
    require(!table.schedule.played() && !table.source.played(),
            "Where threads copy, nobody asks for work or brings sources.");
    const bool fits = table.load.first_warp + 4 <= table.multiply.first_warp;
    const bool shares = fits && table.side.played();
    if (shares) table.side = {table.load.first_warp + 3, 1};
    table.load = {fits ? table.load.first_warp : table.warps(), shares ? 3u : 4u, 56};
    if (table.shifts_registers()) table.multiply.registers = 224;
    return table.checked();
  }
};

}  // namespace tw
