// mfma: synchronous, by a whole wave. The hardware holds back whoever needs a sum too early.
#include "vgpu/data/mfma.h"

#include <algorithm>

#include "vgpu/data/mfma_scaled.h"
#include "vgpu/machine/warp_collective.h"

namespace tw::model {

using namespace vgpu;

void mfma(const MfmaShape& shape, void* d, const std::uint32_t* a, const std::uint32_t* b) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  require_whole_warp(machine, thread, "mfma", MfmaShape::lanes);
  check_filled(machine, thread, a, shape.registers(), "mfma");
  check_filled(machine, thread, b, shape.registers(), "mfma");
  Warp& warp = *thread.warp;
  warp.operands[thread.lane] = {d, a, b};
  warp.brought[thread.lane] = static_cast<unsigned>(shape.a) << 24 |
                              static_cast<unsigned>(shape.b) << 16 | shape.rows << 8 | shape.k;
  meet(machine, thread, Collective::Mfma, [&] {
    check_same_in_all_lanes(machine, thread, "mfma");
    MfmaLanes lanes;
    for (unsigned lane = 0; lane < MfmaShape::lanes; ++lane) {
      lanes.d[lane] = warp.operands[lane].d;
      lanes.a[lane] = warp.operands[lane].a;
      lanes.b[lane] = warp.operands[lane].b;
    }
    vgpu::mfma(shape, lanes);
  });
}

void mfma_scaled(const MfmaScaledShape& shape, float* d, const std::uint32_t* a,
                 const std::uint32_t* b, std::uint32_t a_scale, std::uint32_t b_scale) {
  constexpr unsigned registers = MfmaScaledShape::registers;
  Engine& machine = engine();
  Thread& thread = machine.enter();
  require_whole_warp(machine, thread, "mfma_scaled", MfmaScaledShape::lanes);
  check_filled(machine, thread, a, registers, "mfma_scaled");
  check_filled(machine, thread, b, registers, "mfma_scaled");
  // A lane's scale stands behind its elements.
  std::uint32_t scaled_a[registers + 1], scaled_b[registers + 1];
  *std::copy_n(a, registers, scaled_a) = a_scale;
  *std::copy_n(b, registers, scaled_b) = b_scale;
  Warp& warp = *thread.warp;
  warp.operands[thread.lane] = {d, scaled_a, scaled_b};
  warp.brought[thread.lane] = static_cast<unsigned>(shape.a) << 24 |
                              static_cast<unsigned>(shape.b) << 16 | shape.rows << 8 | shape.k;
  meet(machine, thread, Collective::Mfma, [&] {
    check_same_in_all_lanes(machine, thread, "mfma_scaled");
    MfmaScaledLanes lanes;
    for (unsigned lane = 0; lane < MfmaScaledShape::lanes; ++lane) {
      const LaneOperands& own = warp.operands[lane];
      lanes.d[lane] = static_cast<float*>(own.d);
      lanes.a[lane] = own.a;
      lanes.b[lane] = own.b;
      lanes.a_scale[lane] = own.a[registers];
      lanes.b_scale[lane] = own.b[registers];
    }
    vgpu::mfma_scaled(shape, lanes);
  });
}

}  // namespace tw::model
