// What the virtual GPU must implement for isa/amdgcn/mfma_scaled.h.
#pragma once

#include "tilewright/isa/model/mfma.h"

namespace tw {

// d += (a a_scale) (b b_scale) by one wave of 64 lanes: 16 x 16, over 128 of k, of 8-bit floats of
// OCP. Of each row of a, and column of b, 32 of k share a scale. In lane l, where e counts the
// elements of its operand and r the registers of its sums:
//   a     row l % 16, b column l % 16,  k = 16 (l / 16) + e % 16 + 64 (e / 16)
//   scale of row, or column, l % 16 and block l / 16 of k: the lowest byte
//   d     column l % 16, row 4 (l / 16) + r
struct MfmaScaledShape {
  MfmaType a = MfmaType::E4m3;
  MfmaType b = MfmaType::E4m3;

  static constexpr unsigned lanes = 64, rows = 16, k = 128, block = 32;
  static constexpr unsigned elements = 32, registers = 8, sums = 4;  // of a lane
  static constexpr unsigned k_of(unsigned lane, unsigned element) {
    return 16 * (lane / rows) + element % 16 + 64 * (element / 16);
  }
  constexpr bool is_legal() const {
    const auto is_ocp = [](MfmaType type) {
      return type == MfmaType::E4m3 || type == MfmaType::E5m2;
    };
    return is_ocp(a) && is_ocp(b);
  }
};

}  // namespace tw

#if TW_MODELLED
namespace tw::model {

void mfma_scaled(const MfmaScaledShape& shape, float* d, const std::uint32_t* a,
                 const std::uint32_t* b, std::uint32_t a_scale, std::uint32_t b_scale);

}  // namespace tw::model
#endif
