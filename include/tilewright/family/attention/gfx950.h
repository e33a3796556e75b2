// CDNA4, as attention uses it: as CDNA3, with values by transposed reads and more shared memory.
#pragma once

#include "tilewright/arch/gfx950.h"
#include "tilewright/family/attention/gfx942.h"

namespace tw {

struct Gfx950Attention : Gfx942Attention {
  static constexpr TargetFacts target = Gfx950::target;
  static constexpr unsigned shared_bytes = Gfx950::shared_bytes;

  template <class Queries, class Keys>
  using ScoreOp = MfmaOfTwoRings<Queries, Keys, Cdna::Four>;
  template <class Values, unsigned keys>
  using ValueOp = MfmaOfRegisters<Values, keys, Cdna::Four>;
};

}  // namespace tw
