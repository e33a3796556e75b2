// mma.sync of shapes and types that kernels of ours do not use.
#pragma once

#include "vgpu/data/warp_matrix.h"

namespace tw::vgpu {

enum class MmaElement : std::uint8_t { Bf16, F16, Tf32, E4m3, E5m2, S8, U8 };
constexpr unsigned bytes_of(MmaElement element) {
  return element == MmaElement::Tf32 ? 4 : element <= MmaElement::F16 ? 2 : 1;
}

// d = a b + d of 16 x 8 x k. Registers hold elements as those of mma_m16n8 do; where k is half as
// long, the second half of them is not there. Sums of 16 bits lie two to a register.
struct WarpProduct {
  MmaElement a, b;
  unsigned k;
  bool half_sums = false;  // f16, and not f32 or s32
  bool saturates = false;  // integers do not wrap

  unsigned b_registers() const { return k * bytes_of(a) / 16; }
  unsigned a_registers() const { return 2 * b_registers(); }
  unsigned d_registers() const { return half_sums ? 2 : 4; }

  constexpr std::uint32_t shape() const {
    return static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b) << 4 | k << 8 |
           (half_sums ? 1u << 16 : 0) | (saturates ? 1u << 17 : 0) | 1u << 18;
  }
  static WarpProduct of(std::uint32_t shape) {
    return {static_cast<MmaElement>(shape & 15), static_cast<MmaElement>(shape >> 4 & 15),
            shape >> 8 & 0xff, (shape >> 16 & 1) != 0, (shape >> 17 & 1) != 0};
  }
};

// Equal to the hardware whenever every sum is exact, as with small integers; sums of f16 are
// rounded once.
void multiply(const WarpProduct& product, const MmaLanes& lanes);

}  // namespace tw::vgpu

namespace tw::model {

// `shape` is WarpProduct::shape().
void mma_sync_shaped(std::uint32_t shape, void* d, const std::uint32_t* a, const std::uint32_t* b);

}  // namespace tw::model
