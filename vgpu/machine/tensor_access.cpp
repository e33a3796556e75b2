// tcgen05.ld and tcgen05.st: a warp moves columns of its quarter of the lanes, or of half of it.
#include <fmt/format.h>

#include <algorithm>

#include "vgpu/machine/tensor_order.h"
#include "vgpu/machine/timed_wait.h"
#include "vgpu/machine/warp_collective.h"

namespace tw::vgpu {
namespace {

constexpr std::uint64_t latency_picoseconds = 20'000;

const char* name_of_access(bool is_load) { return is_load ? "tcgen05.ld" : "tcgen05.st"; }

TensorTrack& track_of(WarpTensorState& tensor, bool is_load) {
  return is_load ? tensor.loads : tensor.stores;
}

void check_lanes(Engine& machine, const Thread& thread, TensorAddress address,
                 TensorAccessShape shape, const char* instruction) {
  const unsigned first = thread.warp->index % 4 * warp_lanes;
  if (tensor_lane(address) == first) return;
  if (lanes_of(shape) == 16 && tensor_lane(address) == first + 16) return;
  machine.report(Checker::TensorMemoryLanes, -1, instruction, [&] {
    return fmt::format(
        "The {} gives {} lane {} of tensor memory; warp {} reaches lanes {} to {} only, and must "
        "name the first of them.",
        who(thread), instruction, tensor_lane(address), thread.warp->index, first,
        first + warp_lanes - 1);
  });
  machine.abandon();
}

// What all lanes of a warp know: of tensor memory after their fences, or at all.
ClockRef common_of(Engine& machine, Warp& warp, bool fenced) {
  if (!machine.order.enabled()) return {};
  CommonView common;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    const Thread& thread = warp.cta->threads[warp.first_thread + lane];
    ThreadView view = thread.view;
    if (fenced) view.known = fenced_knowledge(machine, thread);
    common.add(view);
  }
  return common.get(machine.order.pool);
}

std::uint8_t bands_of(unsigned lane, TensorAccessShape shape) {
  return static_cast<std::uint8_t>((lanes_of(shape) == 32 ? 3u : 1u) << lane / band_lanes);
}

void issue(Engine& machine, Thread& thread, bool is_load, TensorAddress address,
           TensorAccessShape shape, unsigned count) {
  const char* instruction = name_of_access(is_load);
  Warp& warp = *thread.warp;
  check_same_in_all_lanes(machine, thread, instruction);
  check_lanes(machine, thread, address, shape, instruction);
  const TensorRegion region{thread.cta, bands_of(tensor_lane(address), shape),
                            tensor_column(address), columns_of(shape, count)};
  check_allocated(machine, region, instruction);
  TensorTrack& track = track_of(warp.tensor, is_load);
  const ClockRef known = common_of(machine, warp, true), heard = common_of(machine, warp, false);
  TensorAccess access{instruction, is_load ? TensorUse::Load : TensorUse::Store, is_load, !is_load};
  access.known = known.get();
  access.heard = heard.get();
  access.warp = &warp;
  access.epoch = ++track.issued;
  judge(machine, region, access, nullptr);
  auto& op = *warp.tensor.ops.emplace_back(std::make_unique<TensorAccessOp>());
  op.warp = &warp.tensor;
  op.cta = thread.cta;
  op.is_load = is_load;
  op.epoch = track.issued;
  op.lane = tensor_lane(address);
  op.column = region.column;
  op.count = count;
  op.shape = shape;
  op.time = thread.time + latency_picoseconds;
  if (is_load) {
    std::copy_n(warp.tensor.registers.begin(), warp_lanes, op.registers);
  } else {
    op.values = warp.tensor.values;
    for_each_cell(*thread.cta->tensor, region,
                  [](TensorCell& cell, unsigned) { ++cell.in_flight; });
  }
  ++track.in_flight;
  warp.tensor.landing = &op;
}

void execute(bool is_load, std::uint32_t* registers, const std::uint32_t* values,
             TensorAddress address, TensorAccessShape shape, unsigned count) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  Warp& warp = *thread.warp;
  tensor_memory(machine, *thread.cta, 0, name_of_access(is_load));
  warp.brought[thread.lane] = address;
  if (is_load) {
    warp.tensor.registers[thread.lane] = registers;
    std::fill_n(registers, count, tensor_poison);
  } else {
    warp.tensor.values[thread.lane].assign(values, values + count);
  }
  bool completes = false;
  meet(machine, thread, Collective::TensorAccess, [&] {
    issue(machine, thread, is_load, address, shape, count);
    completes = true;
  });
  TensorTrack& track = track_of(warp.tensor, is_load);
  spread(machine, thread, track, TensorNews::Issued, track.issued);
  // Only now: the other lanes are awake, and a landing at once must not find them asleep.
  if (completes)
    machine.submit(LandingKind::TensorAccess, *thread.cta->cluster, warp.tensor.landing);
}

void deliver(TensorAccessOp& op, unsigned lane) {
  std::copy_n(op.values[lane].begin(), op.count, op.registers[lane]);
  op.registers[lane] = nullptr;
  ++op.delivered;
}

// Hands the lane the registers of all loads that it has waited for.
void deliver(Thread& thread, Epoch waited) {
  auto& ops = thread.warp->tensor.ops;
  for (auto& op : ops) {
    if (!op->is_load || op->epoch > waited || op->registers[thread.lane] == nullptr) continue;
    deliver(*op, thread.lane);
  }
  std::erase_if(ops, [](const auto& op) { return op->is_load && op->delivered == warp_lanes; });
}

void wait(bool is_load) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  TensorTrack& track = track_of(thread.warp->tensor, is_load);
  meet(machine, thread, Collective::TensorWait, [] {});
  const Epoch issued = track.issued;
  const TimedWait timed(machine, "tensor memory");
  while (track.in_flight != 0) {
    machine.sleep(track.waiters, {WaitKind::TensorAccess, &track, 0});
  }
  track.waited = std::max(track.waited, issued);
  if (is_load) deliver(thread, issued);
  spread(machine, thread, track, TensorNews::Waited, issued);
  if (machine.launch.place) spread(machine, thread, track, TensorNews::Fenced, issued);
}

}  // namespace

void land_tensor_access(Engine& machine, void* operation) {
  auto& op = *static_cast<TensorAccessOp*>(operation);
  WarpTensorState& warp = *op.warp;
  TensorMemory& memory = *op.cta->tensor;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    auto& values = op.values[lane];
    if (op.is_load) values.resize(op.count);
    for (unsigned i = 0; i < op.count; ++i) {
      const TensorWord word = tensor_word(op.shape, lane, i, op.count);
      const unsigned at = op.lane + word.lane, column = op.column + word.column;
      const bool halves = op.shape == TensorAccessShape::Lanes32Halves;
      if (!op.is_load) {
        std::uint32_t* const into = memory.row(at, column);
        into[0] = halves ? values[i] & 0xffff : values[i];
        if (halves) into[1] = values[i] >> 16;
      } else {
        // What is still on its way is not there yet.
        const bool is_there = memory.cell(at / band_lanes, column).in_flight == 0 &&
                              (!halves || memory.cell(at / band_lanes, column + 1).in_flight == 0);
        const std::uint32_t* const from = memory.row(at, column);
        const std::uint32_t word = halves ? (from[0] & 0xffff) | from[1] << 16 : from[0];
        values[i] = is_there ? word : tensor_poison;
      }
    }
  }
  TensorTrack& track = track_of(warp, op.is_load);
  if (!op.is_load) {
    const TensorRegion region{op.cta, bands_of(op.lane, op.shape), op.column,
                              columns_of(op.shape, op.count)};
    for_each_cell(memory, region, [](TensorCell& cell, unsigned) { --cell.in_flight; });
  }
  const std::uint64_t time = op.time;
  if (!op.is_load) {
    std::erase_if(warp.ops, [&](const auto& known) { return known.get() == &op; });
  }
  if (--track.in_flight == 0) machine.wake_all(track.waiters, time);
}

}  // namespace tw::vgpu

namespace tw::model {

using vgpu::TensorAccessShape;

void tcgen05_load(std::uint32_t* values, unsigned count, TensorAddress source) {
  vgpu::execute(true, values, nullptr, source, TensorAccessShape::Lanes32Bits32, count);
}
void tcgen05_load_shaped(std::uint32_t* values, unsigned count, TensorAddress source,
                         TensorAccessShape shape) {
  vgpu::execute(true, values, nullptr, source, shape, count);
}

void tcgen05_store(TensorAddress destination, const std::uint32_t* values, unsigned count) {
  vgpu::execute(false, nullptr, values, destination, TensorAccessShape::Lanes32Bits32, count);
}
void tcgen05_store_shaped(TensorAddress destination, const std::uint32_t* values, unsigned count,
                          TensorAccessShape shape) {
  vgpu::execute(false, nullptr, values, destination, shape, count);
}

void tcgen05_wait_load() { vgpu::wait(true); }
void tcgen05_wait_store() { vgpu::wait(false); }

void tcgen05_register_access(const std::uint32_t* word) {
  vgpu::Engine& machine = vgpu::engine();
  vgpu::Thread& thread = machine.current();
  auto& tensor = thread.warp->tensor;
  for (const auto& op : tensor.ops) {
    std::uint32_t* const begin = op->is_load ? op->registers[thread.lane] : nullptr;
    if (begin == nullptr || word < begin || word >= begin + op->count) continue;
    // It is as good as a wait for this load, and those before it: a register has come from there.
    const vgpu::Epoch epoch = op->epoch;
    vgpu::TensorTrack& loads = tensor.loads;
    while (loads.in_flight != 0) {
      machine.sleep(loads.waiters, {vgpu::WaitKind::TensorAccess, &loads, 0});
    }
    vgpu::deliver(thread, epoch);
    loads.waited = std::max(loads.waited, epoch);
    vgpu::spread(machine, thread, loads, vgpu::TensorNews::Waited, epoch);
    vgpu::spread(machine, thread, loads, vgpu::TensorNews::Fenced, epoch);
    return;
  }
}

}  // namespace tw::model
