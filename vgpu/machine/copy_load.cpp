// TMA loads: global to shared memory, announced on mbarriers.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tilewright/isa/model/tensor_memory.h"
#include "vgpu/machine/copy_operation.h"
#include "vgpu/machine/global_access.h"
#include "vgpu/machine/global_race.h"
#include "vgpu/machine/mbarrier_model.h"

namespace tw::vgpu {
namespace {

constexpr int poison = 0xFF;  // NaN in every floating-point format

void judge_source(Engine& machine, const TileMap& map, const int* at, std::uint32_t offset,
                  const Access& load) {
  const GlobalMemory::Range* const range = machine.global.nearest(map.base);
  if (range == nullptr || range->shadow == nullptr) return;
  GlobalAccess access{load};
  for_each_run(map, at, window_begin + offset, [&](const Run& run) {
    if (run.global != nullptr) judge_global_read(machine, run.global, run.bytes, access);
  });
}

// Neither the issue nor the landing of a load commutes with other uses of what it touches.
void step_on_runs(Engine& machine, const LoadOperation& load) {
  if (!machine.step.is_on()) return;
  const Mbarrier& barrier = *load.barrier;
  machine.step.shared(TouchKind::Writes, barrier.cta->index, barrier.offset, 8);
  for_each_run(load.map, load.at.data(), window_begin + load.offset, [&](const Run& run) {
    machine.step.shared(TouchKind::Writes, load.cta->index, run.shared - window_begin, run.bytes);
    if (run.global != nullptr) machine.step.global(TouchKind::Reads, run.global, run.bytes);
  });
}

void issue_to(Engine& machine, Thread& thread, const TileMap& map, const int* at, SharedPlace place,
              Mbarrier& barrier) {
  touch_global(machine, thread, map.base);
  auto* load = new LoadOperation;
  load->map = map;
  std::copy_n(at, map.rank, load->at.begin());
  load->cta = place.cta;
  load->offset = place.offset;
  load->bytes = box_bytes(map);
  load->barrier = &barrier;
  load->issuer = &thread;
  load->behind_grids = thread.behind_grids;
  load->done_time = book_copy_engine(*place.cta->multiprocessor, thread.time, load->bytes);
  ++barrier.copies_in_flight;
  barrier.copying_role = thread.role;
  step_on_runs(machine, *load);
  if (Shadow* shadow = place.cta->shadow.get()) {
    const Slot agent =
        machine.order.agent(*place.cta->cluster, AgentKind::Copies, &barrier, barrier.copies);
    Access access = Order::async(thread, "TMA load", agent, barrier.copies_epoch);
    access.covers_unfenced = machine.options.relaxed;
    // Not the gaps that short swizzled rows leave: nothing is written there.
    for_each_run(map, at, window_begin + place.offset, [&](const Run& run) {
      shadow->write(machine, run.shared - window_begin, run.bytes, access);
      shadow->set_step(run.shared - window_begin, run.bytes, thread.step);
    });
    judge_source(machine, map, at, place.offset, access);
  }
  for_each_run(map, at, window_begin + place.offset, [&](const Run& run) {
    std::memset(place.cta->shared.get() + (run.shared - window_begin), poison, run.bytes);
  });
  machine.submit(LandingKind::Load, *place.cta->cluster, load);
}

}  // namespace

void land_load(Engine& machine, void* operation) {
  const std::unique_ptr<LoadOperation> load(static_cast<LoadOperation*>(operation));
  machine.step.tells();
  step_on_runs(machine, *load);
  std::byte* const shared = load->cta->shared.get();
  // Its own barriers are checked when it ends; those of its peer may count later.
  if (load->cta->exited() && load->barrier->cta != load->cta) {
    machine.report_about(load->issuer->role, Checker::InFlightAtExit, -1, "TMA load", [&] {
      return fmt::format("A TMA load of the {} lands in CTA {}, which has ended.",
                         who(*load->issuer), load->cta->index);
    });
  }
  for_each_run(load->map, load->at.data(), window_begin + load->offset, [&](const Run& run) {
    std::byte* const destination = shared + (run.shared - window_begin);
    if (run.global == nullptr) {
      std::memset(destination, 0, run.bytes);
    } else if (may_read_global(machine, *load->issuer, run.global, run.bytes)) {
      std::memcpy(destination, run.global, run.bytes);
    }
  });
  const Slot waits = load->cta->cluster->grid_waits;
  if (load->behind_grids && waits != no_slot && machine.order.enabled()) {
    load->barrier->arriving.raise(machine.order.pool, waits, grids_have_ended);
  }
  complete_transaction(machine, *load->barrier, load->bytes, load->done_time);
}

}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

namespace {

constexpr const char* load_instruction = "cp.async.bulk.tensor load";

// The map has been checked.
void load(SharedAddress destination, const TileMap& map, SharedAddress barrier,
          const int* coordinates, std::uint16_t mask, bool pair) {
  Engine& machine = engine();
  Thread& thread = machine.current();
  const SharedPlace place = machine.resolve(destination, shared_box_bytes(map), load_instruction);
  const SharedPlace signal = machine.resolve(barrier, 8, load_instruction);
  // Ranks of a pair differ in the last bit only.
  const unsigned apart = place.cta->rank ^ signal.cta->rank;
  if (apart > (pair ? 1 : 0)) {
    machine.report(Checker::Bounds, -1, load_instruction, [&] {
      return fmt::format(
          "The {} loads into the CTA of rank {} and signals a barrier of rank {}; a copy signals "
          "where it lands{}.",
          who(thread), place.cta->rank, signal.cta->rank, pair ? ", or in the peer there" : "");
    });
    machine.abandon();
  }
  auto& ctas = thread.cta->cluster->ctas;
  if (mask >> ctas.size() != 0) {
    machine.report(Checker::Bounds, -1, load_instruction, [&] {
      return fmt::format("The {} multicasts to the mask {:#b} in a cluster of {} CTAs.",
                         who(thread), mask, ctas.size());
    });
    machine.abandon();
  }
  const unsigned targets = mask == 0 ? 1u << place.cta->rank : mask;
  for (unsigned target = 0; target < ctas.size(); ++target) {
    if ((targets >> target & 1) == 0) continue;
    const unsigned signalled = pair ? (target & ~1u) | (signal.cta->rank & 1) : target;
    Mbarrier& there = usable_mbarrier(machine, {ctas[signalled].get(), signal.offset},
                                      BarrierUse::Copies, load_instruction);
    issue_to(machine, thread, map, coordinates, {ctas[target].get(), place.offset}, there);
  }
}

void load_box(SharedAddress destination, const TensorMap* packed_map, SharedAddress barrier,
              const int* coordinates, unsigned rank, std::uint16_t mask, bool pair) {
  Engine& machine = engine();
  machine.enter();
  machine.step.tells();
  const TileMap map = checked_map(machine, packed_map, coordinates, rank, destination,
                                  CopyDirection::Load, load_instruction);
  load(destination, map, barrier, in_memory(map, coordinates).data(), mask, pair);
}

}  // namespace

void tma_load(SharedAddress destination, const TensorMap* map, SharedAddress barrier,
              const int* coordinates, unsigned rank, std::uint16_t mask) {
  load_box(destination, map, barrier, coordinates, rank, mask, false);
}

void tma_load_im2col(SharedAddress destination, const TensorMap* packed_map, SharedAddress barrier,
                     const int* coordinates, const std::uint16_t* offsets, unsigned rank,
                     std::uint16_t mask) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  const TileMap map = checked_map(machine, packed_map, coordinates, rank, destination,
                                  CopyDirection::LoadIm2col, load_instruction);
  if (const Status status = check_offsets(map, offsets); !status.is_good()) {
    machine.report(Checker::Bounds, -1, load_instruction, [&] {
      return fmt::format("The {} executes {}. {}", who(thread), load_instruction,
                         status.sentence());
    });
    machine.abandon();
  }
  std::array<int, 5> at = {};
  std::copy_n(coordinates, rank, at.begin());
  for (unsigned i = 0; i + 2 < rank; ++i) at[i + 1] += offsets[i];
  load(destination, at_offsets(map, offsets), barrier, at.data(), mask, false);
}

void bulk_load(SharedAddress destination, const void* source, std::uint32_t bytes,
               SharedAddress barrier, std::uint16_t mask) {
  constexpr const char* instruction = "cp.async.bulk load";
  Engine& machine = engine();
  machine.enter();
  check_line(machine, destination, reinterpret_cast<std::uintptr_t>(source), bytes, instruction);
  if (bytes == 0) return;
  TileMap line;
  line.base = const_cast<void*>(source);
  line.line_bytes = bytes;
  load(destination, line, barrier, nullptr, mask, false);
}

void tma_load_pair(SharedAddress destination, const TensorMap* map, SharedAddress barrier,
                   const int* coordinates, unsigned rank, std::uint16_t mask) {
  load_box(destination, map, barrier, coordinates, rank, mask, true);
}

void tma_prefetch_map(const TensorMap* map) {
  Engine& machine = engine();
  machine.enter();
  (void)read_map(machine, map, "prefetch.tensormap");
}

}  // namespace tw::model
