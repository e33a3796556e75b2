// CDNA4, gfx950 (MI355X): as CDNA3, with more shared memory, OCP's 8-bit floats, and 16-bit
// products of twice the k.
#pragma once

#include "tilewright/arch/gfx942.h"

namespace tw {

struct Gfx950 : Gfx942 {
  static constexpr TargetFacts target = target::gfx950;
  static constexpr unsigned shared_bytes = 163840;
  template <class Map>
  using Dealt = DealtToDies<Map, dies, 64>;

  template <Tiling tiling, RoleTable roles>
  using Loader =
      ThreadLoader<tiling, VectorCopy, roles.load.warps, Completion::WarpsArrive, roles.lanes>;
  template <auto config, Tiling tiling, unsigned stage_bytes>
  using Op = MfmaOp<tiling, WarpGrid{2, 2}, stage_bytes, Cdna::Four>;
};

// The second step: loads straight to LDS, 16 bytes a lane.
struct Gfx950Lds : Gfx950 {
  using Signal = WaveCounters;
  template <Tiling tiling, RoleTable roles>
  using Loader = LdsLoader<tiling, roles.load.warps, 16>;
};

// The third step: as on CDNA3, with more shared memory.
struct Gfx950PingPong : Gfx942PingPong {
  static constexpr TargetFacts target = target::gfx950;
  static constexpr unsigned lds_bytes = 163840;
  static constexpr unsigned shared_bytes = lds_bytes;
  template <class Map>
  using Dealt = DealtToDies<Map, dies, 64>;
  static constexpr bool loads_while_storing = true;

  template <Tiling tiling, RoleTable roles>
  using Loader =
      LdsHalves<tiling, roles.load.warps, 16, tiling.m / waves.m / 2, tiling.n / waves.n / 2>;
  template <auto config, Tiling tiling, unsigned stage_bytes>
  using Op = MfmaHalvesOp<tiling, waves, stage_bytes, Cdna::Four>;
};

}  // namespace tw
