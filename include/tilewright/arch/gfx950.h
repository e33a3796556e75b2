// CDNA4, gfx950 (MI355X): as CDNA3, with more shared memory, OCP's 8-bit floats, and 16-bit
// products of twice the k.
#pragma once

#include "tilewright/arch/gfx942.h"

namespace tw {

struct Gfx950 : Gfx942 {
  static constexpr TargetFacts target = target::gfx950;
  static constexpr unsigned shared_bytes = 163840;

  template <auto config, Tiling tiling, unsigned stage_bytes>
  using Op = MfmaOp<tiling, WarpGrid{2, 2}, stage_bytes, Cdna::Four>;
};

}  // namespace tw
