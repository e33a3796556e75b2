// CDNA4, as requantised products use it: as CDNA3.
#pragma once

#include "tilewright/arch/gfx950.h"
#include "tilewright/family/requantised/gfx942.h"

namespace tw {

struct Gfx950Rows : Gfx942Rows {
  static constexpr TargetFacts target = Gfx950::target;
  static constexpr unsigned shared_bytes = Gfx950::shared_bytes;

  template <Tiling tiling, RoleTable roles>
  using Loader = Gfx950::Loader<tiling, roles>;
  template <auto config, Tiling tiling, unsigned stage_bytes>
  using Op = MfmaOp<tiling, WarpGrid{2, 1}, stage_bytes, Cdna::Four>;
};

}  // namespace tw
