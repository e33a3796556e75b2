// mfma with block scales: what the product of a wave is.
#pragma once

#include "tilewright/isa/model/mfma_scaled.h"

namespace tw::vgpu {

// The registers of each lane.
struct MfmaScaledLanes {
  const std::uint32_t* a[MfmaScaledShape::lanes];
  const std::uint32_t* b[MfmaScaledShape::lanes];
  std::uint32_t a_scale[MfmaScaledShape::lanes];
  std::uint32_t b_scale[MfmaScaledShape::lanes];
  float* d[MfmaScaledShape::lanes];
};

// Sums in order of k, each rounded to float.
void mfma_scaled(const MfmaScaledShape& shape, const MfmaScaledLanes& lanes);

}  // namespace tw::vgpu
