// Ampere for products of integers: devices of 10.3 run its kernels, too, whose tensor memory takes
// no integers. They compile the PTX that these kernels' images have.
#pragma once

#include "tilewright/arch/sm80.h"

namespace tw {

struct Sm80Integers : Sm80 {
  static constexpr TargetFacts target = {target::sm80.name, 80, target::sm100a.capability_end, 90};
};

struct Sm80PlainIntegers : Sm80Plain {
  static constexpr TargetFacts target = Sm80Integers::target;
};

}  // namespace tw
