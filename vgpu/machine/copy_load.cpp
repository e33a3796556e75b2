// TMA loads: global to shared memory, announced on mbarriers.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vgpu/machine/copy_operation.h"
#include "vgpu/machine/global_access.h"
#include "vgpu/machine/mbarrier_model.h"

namespace tw::vgpu {
namespace {

constexpr int poison = 0xFF;  // NaN in every floating-point format

void issue_to(Engine& machine, Thread& thread, const TileMap& map, const int* at, SharedPlace place,
              Mbarrier& barrier) {
  auto* load = new LoadOperation;
  load->map = map;
  std::copy_n(at, map.rank, load->at.begin());
  load->cta = place.cta;
  load->offset = place.offset;
  load->bytes = box_bytes(map);
  load->barrier = &barrier;
  load->issuer = &thread;
  load->done_time = book_copy_engine(*place.cta->multiprocessor, thread.time, load->bytes);
  ++barrier.copies_in_flight;
  barrier.copying_role = thread.role;
  if (Shadow* shadow = place.cta->shadow.get()) {
    const Slot agent =
        machine.order.agent(*place.cta->cluster, AgentKind::Copies, &barrier, barrier.copies);
    Access access = Order::async(thread, "TMA load", agent, barrier.copies_epoch);
    // Not the gaps that short swizzled rows leave: nothing is written there.
    for_each_run(map, at, window_begin + place.offset, [&](const Run& run) {
      shadow->write(machine, run.shared - window_begin, run.bytes, access);
      shadow->set_step(run.shared - window_begin, run.bytes, thread.step);
    });
  }
  for_each_run(map, at, window_begin + place.offset, [&](const Run& run) {
    std::memset(place.cta->shared.get() + (run.shared - window_begin), poison, run.bytes);
  });
  machine.submit(LandingKind::Load, *place.cta->cluster, load);
}

}  // namespace

void land_load(Engine& machine, void* operation) {
  const std::unique_ptr<LoadOperation> load(static_cast<LoadOperation*>(operation));
  std::byte* const shared = load->cta->shared.get();
  for_each_run(load->map, load->at.data(), window_begin + load->offset, [&](const Run& run) {
    std::byte* const destination = shared + (run.shared - window_begin);
    if (run.global == nullptr) {
      std::memset(destination, 0, run.bytes);
    } else if (may_read_global(machine, *load->issuer, run.global, run.bytes)) {
      std::memcpy(destination, run.global, run.bytes);
    }
  });
  complete_transaction(machine, *load->barrier, load->bytes, load->done_time);
}

}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

void tma_load(SharedAddress destination, const TensorMap* packed_map, SharedAddress barrier,
              const int* coordinates, unsigned rank, std::uint16_t mask) {
  constexpr const char* instruction = "cp.async.bulk.tensor load";
  Engine& machine = engine();
  Thread& thread = machine.enter();
  const TileMap map = checked_map(machine, packed_map, coordinates, rank, destination,
                                  CopyDirection::Load, instruction);
  const SharedPlace place = machine.resolve(destination, shared_box_bytes(map), instruction);
  const SharedPlace signal = machine.resolve(barrier, 8, instruction);
  if (place.cta != signal.cta) {
    machine.report(Checker::Bounds, -1, instruction, [&] {
      return fmt::format(
          "The {} loads into the CTA of rank {} and signals a barrier of rank {}; a copy signals "
          "where it lands.",
          who(thread), place.cta->rank, signal.cta->rank);
    });
    machine.abandon();
  }
  if (mask == 0) {
    issue_to(machine, thread, map, coordinates, place,
             usable_mbarrier(machine, signal, BarrierUse::Copies, instruction));
    return;
  }
  auto& ctas = thread.cta->cluster->ctas;
  if (mask >> ctas.size() != 0) {
    machine.report(Checker::Bounds, -1, instruction, [&] {
      return fmt::format("The {} multicasts to the mask {:#b} in a cluster of {} CTAs.",
                         who(thread), mask, ctas.size());
    });
    machine.abandon();
  }
  for (unsigned target = 0; target < ctas.size(); ++target) {
    if ((mask >> target & 1) == 0) continue;
    Cta* cta = ctas[target].get();
    Mbarrier& there =
        usable_mbarrier(machine, {cta, signal.offset}, BarrierUse::Copies, instruction);
    issue_to(machine, thread, map, coordinates, {cta, place.offset}, there);
  }
}

void tma_prefetch_map(const TensorMap* map) {
  engine().enter();
  (void)decode(*map);
}

}  // namespace tw::model
