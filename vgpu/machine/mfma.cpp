// mfma: synchronous, by a whole wave. The hardware holds back whoever needs a sum too early.
#include "vgpu/data/mfma.h"

#include <algorithm>
#include <span>

#include "vgpu/data/mfma_scaled.h"
#include "vgpu/machine/warp_collective.h"

namespace tw::model {

using namespace vgpu;

namespace {

// What both kinds of products do: each lane of a wave brings the registers `a` and `b`, as `own`,
// and `multiply` is called once with what all of them brought.
template <class Shape, class Multiply>
void wave_product(const Shape& shape, const char* name, std::span<const std::uint32_t> a,
                  std::span<const std::uint32_t> b, const LaneOperands& own,
                  const Multiply& multiply) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  require_whole_warp(machine, thread, name, Shape::lanes);
  check_filled(machine, thread, a.data(), static_cast<unsigned>(a.size()), name);
  check_filled(machine, thread, b.data(), static_cast<unsigned>(b.size()), name);
  Warp& warp = *thread.warp;
  warp.operands[thread.lane] = own;
  warp.brought[thread.lane] = static_cast<unsigned>(shape.a) << 24 |
                              static_cast<unsigned>(shape.b) << 16 | shape.rows << 8 | shape.k;
  meet(machine, thread, Collective::Mfma, [&] {
    check_same_in_all_lanes(machine, thread, name);
    multiply(warp.operands.data());
  });
}

}  // namespace

void mfma(const MfmaShape& shape, void* d, const std::uint32_t* a, const std::uint32_t* b) {
  wave_product(shape, "mfma", {a, shape.registers()}, {b, shape.registers()}, {d, a, b},
               [&](const LaneOperands* operands) {
                 MfmaLanes lanes;
                 for (unsigned lane = 0; lane < MfmaShape::lanes; ++lane) {
                   lanes.d[lane] = operands[lane].d;
                   lanes.a[lane] = operands[lane].a;
                   lanes.b[lane] = operands[lane].b;
                 }
                 vgpu::mfma(shape, lanes);
               });
}

void mfma_scaled(const MfmaScaledShape& shape, float* d, const std::uint32_t* a,
                 const std::uint32_t* b, std::uint32_t a_scale, std::uint32_t b_scale) {
  const unsigned of_a = shape.registers(shape.a), of_b = shape.registers(shape.b);
  // A lane's scale stands behind its elements.
  std::uint32_t scaled_a[MfmaScaledShape::most_registers + 1];
  std::uint32_t scaled_b[MfmaScaledShape::most_registers + 1];
  *std::copy_n(a, of_a, scaled_a) = a_scale;
  *std::copy_n(b, of_b, scaled_b) = b_scale;
  wave_product(shape, "mfma_scaled", {a, of_a}, {b, of_b}, {d, scaled_a, scaled_b},
               [&](const LaneOperands* operands) {
                 MfmaScaledLanes lanes;
                 for (unsigned lane = 0; lane < MfmaScaledShape::lanes; ++lane) {
                   const LaneOperands& own = operands[lane];
                   lanes.d[lane] = static_cast<float*>(own.d);
                   lanes.a[lane] = own.a;
                   lanes.b[lane] = own.b;
                   lanes.a_scale[lane] = own.a[of_a];
                   lanes.b_scale[lane] = own.b[of_b];
                 }
                 vgpu::mfma_scaled(shape, lanes);
               });
}

}  // namespace tw::model
