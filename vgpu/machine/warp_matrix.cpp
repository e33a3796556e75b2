// ldmatrix and mma.sync: synchronous, by a whole warp.
#include "vgpu/data/warp_matrix.h"

#include <fmt/format.h>

#include <cstring>

#include "vgpu/data/warp_product.h"
#include "vgpu/machine/warp_collective.h"

namespace tw::vgpu {
namespace {

void check_step(Engine& machine, const Thread& thread, std::uint32_t offset) {
  const Cta& cta = *thread.cta;
  const std::uint64_t found = cta.shadow->step_at(offset);
  if (thread.step == no_step || found == no_step || thread.step == found) return;
  machine.report_about(
      thread.role, Checker::WrongStep, place_stage(cta, offset), place_subject(cta, offset), [&] {
        return fmt::format(
            "The {} loads {} by ldmatrix expecting k-tile {}, but k-tile {} was copied there.",
            who(thread), place_name(cta, offset), thread.step, found);
      });
}

void load_matrices(Engine& machine, Warp& warp, unsigned matrices, bool transposed) {
  Cta& cta = *warp.cta;
  std::uint32_t rows[warp_lanes] = {};  // offsets
  for (unsigned lane = 0; lane < 8 * matrices; ++lane) {
    rows[lane] = matrix_row(machine, warp, lane, "ldmatrix");
  }
  const auto load = [&](unsigned lane, unsigned matrix, std::uint32_t offset, unsigned at,
                        unsigned bytes) {
    auto* registers = static_cast<std::byte*>(warp.operands[lane].d) + 4 * matrix;
    std::memcpy(registers + at, cta.shared.get() + offset, bytes);
    if (cta.shadow == nullptr) return;
    const Thread& thread = cta.threads[warp.first_thread + lane];
    Access access = Order::generic(thread, "ldmatrix");
    cta.shadow->read(machine, offset, bytes, access);
    check_step(machine, thread, offset);
  };
  for_each_ldmatrix_piece(rows, matrices, transposed, load);
}

}  // namespace
}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

void ldmatrix_x4(std::uint32_t* registers, SharedAddress row, bool transposed) {
  ldmatrix(registers, row, 4, transposed);
}

void ldmatrix(std::uint32_t* registers, SharedAddress row, unsigned matrices, bool transposed) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  require_whole_warp(machine, thread, "ldmatrix");
  Warp& warp = *thread.warp;
  warp.matrix_row[thread.lane] = row;
  warp.operands[thread.lane].d = registers;
  warp.brought[thread.lane] = matrices * 2 + (transposed ? 1 : 0);
  meet(machine, thread, Collective::Ldmatrix, [&] {
    check_same_in_all_lanes(machine, thread, "ldmatrix");
    load_matrices(machine, warp, matrices, transposed);
  });
}

namespace {

template <class Multiply>
void multiply_by_warp(std::uint32_t shape, void* d, const std::uint32_t* a, const std::uint32_t* b,
                      const Multiply& multiply) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  require_whole_warp(machine, thread, "mma.sync");
  Warp& warp = *thread.warp;
  warp.operands[thread.lane] = {d, a, b};
  warp.brought[thread.lane] = shape;
  meet(machine, thread, Collective::Mma, [&] {
    check_same_in_all_lanes(machine, thread, "mma.sync");
    MmaLanes lanes;
    for (unsigned lane = 0; lane < vgpu::warp_lanes; ++lane) {
      lanes.d[lane] = warp.operands[lane].d;
      lanes.a[lane] = warp.operands[lane].a;
      lanes.b[lane] = warp.operands[lane].b;
    }
    multiply(lanes);
  });
}

}  // namespace

void mma_sync_shaped(std::uint32_t shape, void* d, const std::uint32_t* a, const std::uint32_t* b) {
  const WarpProduct product = WarpProduct::of(shape);
  multiply_by_warp(shape, d, a, b, [&](const MmaLanes& lanes) { multiply(product, lanes); });
}

void mma_sync(MmaType type, void* d, const std::uint32_t* a, const std::uint32_t* b) {
  multiply_by_warp(static_cast<std::uint32_t>(type), d, a, b,
                   [&](const MmaLanes& lanes) { mma_m16n8(type, lanes); });
}

}  // namespace tw::model
