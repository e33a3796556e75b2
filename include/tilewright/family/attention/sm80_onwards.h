// Attention of Ampere for what Blackwell has no kernel of its own for.
#pragma once

#include "tilewright/arch/sm80_onwards.h"
#include "tilewright/family/attention/sm80.h"

namespace tw {

struct Sm80OnwardsAttention : Sm80Attention {
  static constexpr TargetFacts target = Sm80Onwards::target;
};

}  // namespace tw
