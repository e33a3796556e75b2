// Grouped matmul: the rows of A and D come in groups, each of which meets a B of its own. It is
// matmul with another map of tiles.
#pragma once

#include "tilewright/family/matmul.h"
#include "tilewright/schedule/group_tiles.h"

namespace tw {

template <class ArchPage, class Named>
struct Grouped : Matmul<ArchPage, Named> {
  using Base = Matmul<ArchPage, Named>;
  static constexpr MatmulConfig config = Base::config;
  static_assert(config.split == Split::Whole && config.scheduling == Scheduling::Static,
                "How many tiles there are is known on the device only: nobody can count parts or "
                "hand out tickets.");
  static_assert(config.a_major == Major::K && config.few_rows == 0,
                "Groups begin at any row, and have any number of them.");
  using Map = GroupTiles<config.cluster, typename Base::Order, config.tile_m>;
  using Schedule = StaticPersistent<config.cluster, Map>;
};

}  // namespace tw
