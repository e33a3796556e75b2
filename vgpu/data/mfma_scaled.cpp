#include "vgpu/data/mfma_scaled.h"

#include "tilewright/number/narrow_float.h"
#include "tilewright/number/ue8m0.h"

namespace tw::vgpu {
namespace {

using Shape = MfmaScaledShape;
using Operand = double[Shape::rows][Shape::k];

float value_of(MfmaType type, std::uint8_t code) {
  switch (type) {
    case MfmaType::E5m2: return static_cast<float>(E5m2::from_bits(code));
    case MfmaType::E2m3: return static_cast<float>(E2m3::from_bits(code));
    case MfmaType::E3m2: return static_cast<float>(E3m2::from_bits(code));
    case MfmaType::E2m1: return static_cast<float>(E2m1::from_bits(code));
    default: return static_cast<float>(E4m3::from_bits(code));
  }
}

// Codes stand one behind the other, and may reach from one register into the next.
std::uint32_t code_at(const std::uint32_t* registers, unsigned element, unsigned bits) {
  const unsigned at = element * bits, shift = at % 32;
  std::uint64_t window = registers[at / 32];
  if (shift + bits > 32) window |= std::uint64_t{registers[at / 32 + 1]} << 32;
  return static_cast<std::uint32_t>(window >> shift) & ((1u << bits) - 1);
}

// Elements times their scales: exact, for the exponents of double are wide enough.
void unpack(Operand& to, MfmaType type, const std::uint32_t* const registers[],
            const std::uint32_t* scales) {
  for (unsigned lane = 0; lane < Shape::lanes; ++lane) {
    const unsigned row = lane % Shape::rows;
    for (unsigned e = 0; e < Shape::elements; ++e) {
      const std::uint32_t code = code_at(registers[lane], e, bits_in(type));
      const unsigned k = Shape::k_of(type, lane, e);
      const std::uint32_t scale = scales[row + Shape::rows * (k / Shape::block)];
      to[row][k] = double{value_of(type, static_cast<std::uint8_t>(code))} *
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
