// Blackwell for products of integers, which devices of capability 10.0 have and 10.3 have not.
#pragma once

#include "tilewright/arch/sm100.h"

namespace tw {

struct Sm100Integers : Sm100 {
  static constexpr TargetFacts target = {target::sm100a.name, 100, 101, 101};
};

struct Sm100PlainIntegers : Sm100Plain {
  static constexpr TargetFacts target = Sm100Integers::target;
};

}  // namespace tw
