// Ampere for kernels that Blackwell runs, too, where it has none of its own: those that only
// stream, and products of integers, which the tensor memory of devices of 10.3 does not take.
#pragma once

#include "tilewright/arch/sm80.h"

namespace tw {

struct Sm80Onwards : Sm80 {
  static constexpr TargetFacts target = [] {
    TargetFacts facts = target::sm80;
    facts.capability_end = target::sm100a.capability_end;
    return facts;
  }();
};

struct Sm80PlainOnwards : Sm80Plain {
  static constexpr TargetFacts target = Sm80Onwards::target;
};

}  // namespace tw
