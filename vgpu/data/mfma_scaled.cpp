#include "vgpu/data/mfma_scaled.h"

#include "tilewright/number/narrow_float.h"
#include "tilewright/number/ue8m0.h"

namespace tw::vgpu {
namespace {

using Shape = MfmaScaledShape;
using Operand = double[Shape::rows][Shape::k];

// Elements times their scales: exact, for the exponents of double are wide enough.
void unpack(Operand& to, MfmaType type, const std::uint32_t* const registers[],
            const std::uint32_t* scales) {
  for (unsigned lane = 0; lane < Shape::lanes; ++lane) {
    const unsigned row = lane % Shape::rows;
    for (unsigned e = 0; e < Shape::elements; ++e) {
      const auto code = static_cast<std::uint8_t>(registers[lane][e / 4] >> e % 4 * 8);
      const unsigned k = Shape::k_of(lane, e);
      const std::uint32_t scale = scales[row + Shape::rows * (k / Shape::block)];
      const auto element = type == MfmaType::E5m2 ? static_cast<float>(E5m2::from_bits(code))
                                                  : static_cast<float>(E4m3::from_bits(code));
      to[row][k] = double{element} *
                   static_cast<float>(Ue8m0::from_bits(static_cast<std::uint8_t>(scale)));
    }
  }
}

}  // namespace

void mfma_scaled(const MfmaScaledShape& shape, const MfmaScaledLanes& lanes) {
  Operand a, b;
  unpack(a, shape.a, lanes.a, lanes.a_scale);
  unpack(b, shape.b, lanes.b, lanes.b_scale);
  for (unsigned lane = 0; lane < Shape::lanes; ++lane) {
    for (unsigned i = 0; i < Shape::sums; ++i) {
      float& sum = lanes.d[lane][i];
      for (unsigned k = 0; k < Shape::k; ++k) {
        sum = static_cast<float>(sum + a[4 * (lane / 16) + i][k] * b[lane % 16][k]);
      }
    }
  }
}

}  // namespace tw::vgpu
