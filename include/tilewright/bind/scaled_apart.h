// Recipes with scales of blocks of 128 of k for a pair of CTAs: scales have a ring of their own
// beside the stages of operands (kernel/scales_apart.h).
#pragma once

#include "tilewright/bind/scaled_by.h"
#include "tilewright/io/scale_steps.h"
#include "tilewright/kernel/scales_apart.h"

namespace tw {

// `b_rows` rows of the caller's B share a scale: 128.
template <unsigned b_rows, class Recipe = MatmulRecipe>
struct ScaledApart : ScaledBy<b_rows, Recipe> {
  // More than there are sums in tensor memory: scales come a while before they are read.
  static constexpr unsigned scale_stages = 8;
  template <Tiling tiling, RoleTable>
  using Scales = ScaleSteps<tiling, b_rows>;
  template <class Scales>
  static constexpr unsigned beside_bytes() {
    constexpr unsigned bytes = scale_stages * unsigned{sizeof(kernel::ScalesTile<Scales>)};
    return (bytes + 1023) / 1024 * 1024;  // rings begin at multiples of 1,024
  }
  template <Tiling tiling, class>
  using Stage = MatmulTiles<tiling, NoScales>;
  template <Tiling tiling, class Loader, class, RoleArrivals reads, RoleArrivals adds>
  using Payload = MatmulPayload<tiling, Loader, NoScales, reads, adds>;
  template <class Kernel>
  using Program = kernel::ScalesApart<Kernel>;
};

}  // namespace tw
