// mfma: what the product of a wave is.
#pragma once

#include "tilewright/isa/model/mfma.h"

namespace tw::vgpu {

// The registers of each lane.
struct MfmaLanes {
  const std::uint32_t* a[MfmaShape::lanes];
  const std::uint32_t* b[MfmaShape::lanes];
  void* d[MfmaShape::lanes];
};

// d += a b; isa/model/mfma.h says where elements are. Float sums in order of k: products are exact
// in f32, so the result is the hardware's whenever every partial sum is exact, as with small
// integers. Integer sums wrap.
void mfma(const MfmaShape& shape, const MfmaLanes& lanes);

}  // namespace tw::vgpu
