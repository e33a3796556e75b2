// mfma: synchronous, by a whole wave. The hardware holds back whoever needs a sum too early.
#include "vgpu/data/mfma.h"

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

}  // namespace tw::model
