// Groups: the rows of A and D come in groups, each of which meets a B of its own. Any matmul is so
// with another map of tiles.
#pragma once

#include "tilewright/family/matmul.h"
#include "tilewright/family/thread_page.h"
#include "tilewright/io/gather.h"
#include "tilewright/schedule/group_tiles.h"

namespace tw {

// A page of arch/ for a Family whose rows of A are gathered, and with them what has a row for each.
template <class ArchPage>
struct GatherPage : ThreadPage<ArchPage, GatherLoader> {
  template <Tiling tiling, RoleTable roles, class Page = ArchPage>  // which may have none
  using Side = Gathered<typename Page::template Side<tiling, roles>>;
};

// `Family` is Matmul, or what is made of it.
template <class Family>
struct Grouped : Family {
  static constexpr MatmulConfig config = Family::config;
  static_assert(config.split == Split::Whole && config.scheduling == Scheduling::Static,
                "Only the device knows how many tiles there are: no parts, no tickets.");
  static_assert(config.tiling.a_major == Major::K && config.tiling.loaded_rows == 0,
                "Groups begin at any row, and have any number of them.");
  using Map =
      GroupTiles<config.tiling.cluster, typename Family::Order, static_cast<int>(config.tiling.m)>;
  using Schedule = StaticPersistent<config.tiling.cluster, Map>;
  // On Hopper, to follow groups and to bring scales takes more registers than the least.
  static consteval RoleTable with_room_for_scales(RoleTable table) {
    const bool has_room = table.load.registers >= 40;
    if (!table.side.played() || !table.shifts_registers() || has_room) return table;
    table.load.registers = 40;
    table.multiply.registers = 232;
    return table;
  }
  static constexpr RoleTable roles = with_room_for_scales(Family::roles);
};

}  // namespace tw
