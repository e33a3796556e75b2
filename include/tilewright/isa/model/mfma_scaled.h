// What the virtual GPU must implement for isa/amdgcn/mfma_scaled.h.
#pragma once

#include "tilewright/isa/model/mfma.h"

namespace tw {

// d += (a a_scale) (b b_scale) by one wave of 64 lanes: 16 x 16, over 128 of k, of floats of OCP of
// 8, 6 or 4 bits. Of each row of a, and column of b, 32 of k share a scale. In lane l, where e
// counts the elements of its operand, one behind the other, and r the registers of its sums:
//   a     row l % 16, b column l % 16
//         k = 16 (l / 16) + e % 16 + 64 (e / 16) of 8 bits, k = 32 (l / 16) + e of fewer
//   scale of row, or column, l % 16 and block l / 16 of k: the lowest byte
//   d     column l % 16, row 4 (l / 16) + r
struct MfmaScaledShape {
  MfmaType a = MfmaType::E4m3;
  MfmaType b = MfmaType::E4m3;

  static constexpr unsigned lanes = 64, rows = 16, k = 128, block = 32;
  static constexpr unsigned elements = 32, most_registers = 8, sums = 4;  // per lane
  static constexpr unsigned registers(MfmaType type) { return elements * bits_in(type) / 32; }
  static constexpr unsigned k_of(MfmaType type, unsigned lane, unsigned element) {
    if (bits_in(type) < 8) return elements * (lane / rows) + element;
    return 16 * (lane / rows) + element % 16 + 64 * (element / 16);
  }
  // The instruction's number for a type; -1: it takes none such.
  static constexpr int format_of(MfmaType type) {
    switch (type) {
      case MfmaType::E4m3: return 0;
      case MfmaType::E5m2: return 1;
      case MfmaType::E2m3: return 2;
      case MfmaType::E3m2: return 3;
      case MfmaType::E2m1: return 4;
      default: return -1;
    }
  }
  constexpr bool is_legal() const { return format_of(a) >= 0 && format_of(b) >= 0; }
};

}  // namespace tw

#if TW_MODELLED
namespace tw::model {

void mfma_scaled(const MfmaScaledShape& shape, float* d, const std::uint32_t* a,
                 const std::uint32_t* b, std::uint32_t a_scale, std::uint32_t b_scale);

}  // namespace tw::model
#endif
