#include "vgpu/machine/warp_collective.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "vgpu/data/stmatrix.h"

namespace tw::vgpu {

const char* name_of(Collective collective) {
  switch (collective) {
    case Collective::Sync: return "warp_sync";
    case Collective::Shuffle: return "shuffle";
    case Collective::Stmatrix: return "stmatrix";
    case Collective::Setmaxnreg: return "setmaxnreg";
    case Collective::Ldmatrix: return "ldmatrix";
    case Collective::Mma: return "mma.sync";
    case Collective::Mfma: return "mfma";
    case Collective::TensorAllocation: return "tcgen05.alloc, .dealloc or .relinquish_alloc_permit";
    case Collective::TensorAccess: return "tcgen05.ld or .st";
    case Collective::TensorWait: return "tcgen05.wait";
    case Collective::LdsLoad: return "buffer_load lds";
    case Collective::TransposedRead: return "ds_read_b64_tr_b16";
    case Collective::Waitcnt: return "s_waitcnt";
  }
  return "unknown";
}

void require_whole_warp(Engine& machine, const Thread& thread, const char* instruction,
                        unsigned lanes) {
  const Warp& warp = *thread.warp;
  if (warp.lanes == first_lanes(lanes)) return;
  machine.report(Checker::Divergence, -1, instruction, [&] {
    return fmt::format("The {} executes {} in a warp of {} lanes; it takes {}.", who(thread),
                       instruction, std::popcount(warp.lanes), lanes);
  });
  machine.abandon();
}

void check_same_in_all_lanes(Engine& machine, const Thread& thread, const char* instruction) {
  const Warp& warp = *thread.warp;
  for (unsigned lane = 0; lane < static_cast<unsigned>(std::popcount(warp.lanes)); ++lane) {
    if (warp.brought[lane] == warp.brought[0]) continue;
    machine.report(Checker::Divergence, -1, instruction, [&] {
      return fmt::format("In warp {} of CTA {}, lane 0 gives {} the value {} and lane {} gives {}.",
                         warp.index, warp.cta->index, instruction, warp.brought[0], lane,
                         warp.brought[lane]);
    });
    return;
  }
}

std::uint32_t meet_among(std::uint32_t mask, std::uint32_t value, CombineLanes combine,
                         unsigned source_lane, Collective collective) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  Warp& warp = *thread.warp;
  if ((mask >> thread.lane & 1) == 0 || (mask & ~warp.lanes) != 0) {
    machine.report(Checker::Divergence, -1, name_of(collective), [&] {
      return fmt::format(
          "The {}, lane {} of a warp of {} lanes, executes {} with the mask {:#x}, which {}.",
          who(thread), thread.lane, std::popcount(warp.lanes), name_of(collective), mask,
          (mask >> thread.lane & 1) == 0 ? "does not name it" : "names lanes that are not there");
    });
    machine.abandon();
  }
  Rendezvous& rendezvous = warp.rendezvous[static_cast<unsigned>(collective)];
  warp.brought[thread.lane] = value;
  warp.source_lane[thread.lane] = source_lane;
  rendezvous.arrived |= lane_bit(thread.lane);
  if (collective == Collective::Sync) machine.order.release(rendezvous.arriving, thread);
  if ((rendezvous.arrived & mask) != mask) {
    machine.sleep(rendezvous.waiters,
                  {WaitKind::WarpCollective, &rendezvous, static_cast<std::uint64_t>(collective)});
    return warp.result[thread.lane];
  }
  rendezvous.arrived &= ~LaneMask{mask};
  const auto is_named = [&](const Thread& waiter) { return (mask >> waiter.lane & 1) != 0; };
  std::uint64_t time = thread.time;
  for (const Thread* waiter = rendezvous.waiters.first; waiter != nullptr;
       waiter = waiter->next_waiter) {
    if (is_named(*waiter)) time = std::max(time, waiter->time);
  }
  thread.time = time;
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    if ((mask >> lane & 1) != 0) warp.result[lane] = combine(warp, lane, mask);
  }
  if (collective == Collective::Sync) {
    const ClockRef done = rendezvous.arriving.finish();
    machine.order.acquire(thread, done);
    machine.order.acquire_all(rendezvous.waiters, done);
  }
  machine.wake_if(rendezvous.waiters, time, is_named);
  return warp.result[thread.lane];
}

std::uint32_t matrix_row(Engine& machine, const Warp& warp, unsigned lane,
                         const char* instruction) {
  if (warp.matrix_row[lane] % 16 != 0) {
    machine.report(Checker::Alignment, -1, instruction, [&] {
      return fmt::format("The {} gives {} the row address {:#x}; rows are 16-byte aligned.",
                         who(machine.current()), instruction, warp.matrix_row[lane]);
    });
  }
  return machine.resolve_own(warp.matrix_row[lane], 16, instruction).offset;
}

namespace {

void store_matrices(Engine& machine, Warp& warp, unsigned matrices, bool transpose) {
  Cta& cta = *warp.cta;
  std::uint32_t rows[warp_lanes] = {};  // offsets
  for (unsigned lane = 0; lane < 8 * matrices; ++lane) {
    rows[lane] = matrix_row(machine, warp, lane, "stmatrix");
  }
  const auto store = [&](unsigned lane, unsigned, std::uint32_t offset, const std::byte* value,
                         unsigned bytes) {
    std::byte* const place = cta.shared.get() + offset;
    const bool is_same = machine.options.relaxed && std::memcmp(place, value, bytes) == 0;
    std::memcpy(place, value, bytes);
    if (cta.shadow == nullptr) return;
    Access access = Order::generic(cta.threads[warp.first_thread + lane], "stmatrix");
    access.same_bytes = is_same;
    cta.shadow->write(machine, offset, bytes, access);
    cta.shadow->set_step(offset, bytes, no_step);
  };
  for_each_stmatrix_piece(rows, warp.stmatrix_registers, matrices, transpose, store);
}

}  // namespace
}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

unsigned warp_lanes() { return engine().launch.lanes; }

// Any lane may be the one; as lane 0 it needs nobody else.
bool elect_one() {
  Engine& machine = engine();
  const Thread& thread = machine.enter();
  machine.step.tells();
  return thread.lane == 0;
}

void warp_sync() {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  if (thread.warp->lanes == lane_bit(0)) machine.step.tells();  // it meets nobody
  meet(machine, thread, Collective::Sync, [] {});
}

std::uint32_t shuffle(std::uint32_t value, unsigned source_lane) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  Warp& warp = *thread.warp;
  warp.brought[thread.lane] = value;
  warp.source_lane[thread.lane] = source_lane % machine.launch.lanes;
  meet(machine, thread, Collective::Shuffle, [&] {
    for (unsigned lane = 0; lane < machine.launch.lanes; ++lane) {
      if ((warp.lanes >> lane & 1) == 0) continue;
      const unsigned source = warp.source_lane[lane];
      warp.result[lane] = warp.brought[source];
      if ((warp.lanes >> source & 1) != 0) continue;
      machine.report(Checker::Divergence, -1, "shuffle", [&] {
        return fmt::format(
            "Lane {} of warp {} in CTA {} shuffles from lane {}, which is not there.", lane,
            warp.index, warp.cta->index, source);
      });
    }
  });
  return warp.result[thread.lane];
}

void setmaxnreg(unsigned registers, bool increase) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  require_whole_warp(machine, thread, "setmaxnreg");
  Warp& warp = *thread.warp;
  warp.brought[thread.lane] = registers * 2 + (increase ? 1 : 0);
  meet(machine, thread, Collective::Setmaxnreg, [&] {
    check_same_in_all_lanes(machine, thread, "setmaxnreg");
    warp.register_changes.push_back({registers, increase});
  });
}

void stmatrix(SharedAddress row, const std::uint32_t* registers, unsigned matrices,
              bool transpose) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  require_whole_warp(machine, thread, "stmatrix");
  Warp& warp = *thread.warp;
  warp.matrix_row[thread.lane] = row;
  std::copy_n(registers, matrices, warp.stmatrix_registers[thread.lane]);
  warp.brought[thread.lane] = matrices * 2 + (transpose ? 1 : 0);
  meet(machine, thread, Collective::Stmatrix, [&] {
    check_same_in_all_lanes(machine, thread, "stmatrix");
    store_matrices(machine, warp, matrices, transpose);
  });
}

}  // namespace tw::model
