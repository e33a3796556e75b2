// Loads to LDS and reads of LDS by waves of CDNA, and the waits for them.
#include "vgpu/machine/wave_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tilewright/isa/model/wave_memory.h"
#include "vgpu/machine/copy_operation.h"
#include "vgpu/machine/global_access.h"
#include "vgpu/machine/global_race.h"
#include "vgpu/machine/timed_wait.h"
#include "vgpu/machine/warp_collective.h"

namespace tw::vgpu {
namespace {

constexpr unsigned wave_lanes = 64;
constexpr int poison = 0xFF;  // NaN in every floating-point format
constexpr const char* load_name = "buffer_load lds";

// Loads are checked, and zeros filled in, word by word.
std::uint32_t inside_of(const BufferResource& resource, std::uint64_t offset, unsigned bytes) {
  std::uint32_t inside = 0;
  while (inside < bytes && offset + inside + 4 <= resource.bytes) inside += 4;
  return inside;
}

void check_load(Engine& machine, const Thread& thread, SharedAddress first, unsigned bytes) {
  if (first % bytes == 0) return;
  machine.report(Checker::Alignment, -1, load_name, [&] {
    return fmt::format("The {} loads {} bytes a lane to LDS address {:#x}, which is no multiple.",
                       who(thread), bytes, first);
  });
  machine.abandon();
}

// The lane that completes the wave calls it, for all of them.
void issue_load(Engine& machine, Warp& warp, SharedAddress first, const BufferResource& resource,
                unsigned bytes) {
  Cta& cta = *warp.cta;
  const SharedPlace place = machine.resolve_own(first, wave_lanes * bytes, load_name);
  WaveMemory& memory = warp.memory;
  auto* load = new WaveLoad{&warp, memory.loads.open_epoch(), place.offset, bytes, 0, {}};
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    const std::uint64_t at = warp.source_lane[lane];
    load->lanes[lane] = {static_cast<const std::byte*>(resource.base) + at,
                         inside_of(resource, at, bytes)};
    if (cta.shadow == nullptr) continue;
    const Thread& issuer = cta.threads[warp.first_thread + lane];
    Access access = Order::generic(issuer, load_name);
    access.slot = machine.order.agent(*cta.cluster, AgentKind::WaveLoads, &warp, memory.load_agent);
    access.epoch = load->epoch;
    const std::uint32_t to = place.offset + lane * bytes;
    cta.shadow->write(machine, to, bytes, access);
    cta.shadow->set_step(to, bytes, issuer.step);
    GlobalAccess source{access};
    if (load->lanes[lane].inside > 0) {
      judge_global_read(machine, load->lanes[lane].source, load->lanes[lane].inside, source);
    }
  }
  std::memset(place.data(), poison, wave_lanes * bytes);
  memory.loads.issue();
  memory.loads.commit();
  load->done_time =
      book_copy_engine(*cta.multiprocessor, machine.current().time, wave_lanes * bytes);
  machine.submit(LandingKind::WaveLoad, *cta.cluster, load);
}

// The read of one lane, which an agent of the wave makes. `value` receives what is there now:
// whoever writes before the wave has waited is found.
void read_lds(Engine& machine, const Thread& thread, SharedAddress address, unsigned bytes,
              Epoch epoch, void* value, const char* instruction) {
  if (address % bytes != 0) {
    machine.report(Checker::Alignment, -1, instruction, [&] {
      return fmt::format("The {} gives {} the address {:#x}; it must be a multiple of {}.",
                         who(thread), instruction, address, bytes);
    });
    machine.abandon();
  }
  const SharedPlace place = machine.resolve_own(address, bytes, instruction);
  if (Shadow* shadow = thread.cta->shadow.get()) {
    Access access = Order::generic(thread, instruction);
    access.slot = machine.order.agent(*thread.cta->cluster, AgentKind::WaveReads, thread.warp,
                                      thread.warp->memory.read_agent);
    access.epoch = epoch;
    shadow->read(machine, place.offset, bytes, access);
  }
  std::memcpy(value, place.data(), bytes);
}

void pend(Thread& thread, const LdsRead& read) {
  std::memset(read.registers, poison, read.bytes);
  thread.reads.pending.push_back(read);
}

// All lanes of a wave have executed the same reads.
void check_same_reads(Engine& machine, const Warp& warp) {
  const auto issued = [&](unsigned lane) {
    return warp.cta->threads[warp.first_thread + lane].reads.issued;
  };
  for (unsigned lane = 1; lane < wave_lanes; ++lane) {
    if (issued(lane) == issued(0)) continue;
    machine.report(Checker::Divergence, -1, "s_waitcnt", [&] {
      return fmt::format("In wave {} of CTA {}, lane 0 has read LDS {} times and lane {} {} times.",
                         warp.index, warp.cta->index, issued(0), lane, issued(lane));
    });
    return;
  }
}

// s_barrier hands on what the lane has stored, and so the lane has waited for it.
void check_stores(Engine& machine, const Thread& thread) {
  const std::int64_t at = thread.reads.stored_at;
  if (at == LaneReads::nowhere) return;
  const auto offset = static_cast<std::uint32_t>(at);
  machine.report(Checker::Race, place_stage(*thread.cta, offset), "s_barrier", [&] {
    return fmt::format(
        "The {} comes to s_barrier while its stores to LDS, from {} on, are on their way: no "
        "s_waitcnt lgkmcnt(0) is between, and who reads them behind the barrier may read what was "
        "there before.",
        who(thread), place_name(*thread.cta, offset));
  });
}

void fill_registers(Thread& thread, unsigned still_pending) {
  auto& pending = thread.reads.pending;
  if (pending.size() <= still_pending) return;
  const auto end = pending.end() - still_pending;
  for (auto read = pending.begin(); read != end; ++read) {
    std::memcpy(read->registers, read->words, read->bytes);
  }
  pending.erase(pending.begin(), end);
}

}  // namespace

void land_wave_load(Engine& machine, void* operation) {
  const std::unique_ptr<WaveLoad> load(static_cast<WaveLoad*>(operation));
  Warp& warp = *load->warp;
  Cta& cta = *warp.cta;
  std::byte* destination = cta.shared.get() + load->offset;
  std::memset(destination, 0, wave_lanes * load->bytes);
  for (unsigned lane = 0; lane < wave_lanes; ++lane) {
    const auto [source, inside] = load->lanes[lane];
    if (inside == 0) continue;
    if (!may_read_global(machine, cta.threads[warp.first_thread + lane], source, inside)) continue;
    std::memcpy(destination + lane * load->bytes, source, inside);
  }
  warp.memory.loads.landed(load->epoch, 1);
  machine.wake_if(warp.memory.load_waiters, load->done_time, [&](const Thread& waiter) {
    return warp.memory.loads.have_landed(static_cast<Epoch>(waiter.wait.detail));
  });
}

void discard_wave_load(void* operation) { delete static_cast<WaveLoad*>(operation); }

void check_filled(Engine& machine, const Thread& thread, const std::uint32_t* registers,
                  unsigned count, const char* instruction) {
  for (const LdsRead& read : thread.reads.pending) {
    if (read.registers >= registers + count || registers >= read.registers + read.bytes / 4) {
      continue;
    }
    machine.report(Checker::OperandInFlight, -1, instruction, [&] {
      return fmt::format(
          "The {}: {} takes registers that {} has not filled: no s_waitcnt lgkmcnt is between "
          "them.",
          who(thread), instruction, read.instruction);
    });
    return;
  }
}

void check_wave_exit(Engine& machine, const Thread& thread) {
  const CopyGroups& loads = thread.warp->memory.loads;
  if (thread.lane == 0 && loads.known_done() < loads.issued()) {
    machine.report_about(thread.role, Checker::InFlightAtExit, -1, load_name, [&] {
      return fmt::format(
          "The {} returned without a wait for its loads to LDS: no s_waitcnt vmcnt(0) follows "
          "them.",
          who(thread));
    });
  }
  if (thread.reads.pending.empty()) return;
  machine.report_about(thread.role, Checker::InFlightAtExit, -1, "ds_read", [&] {
    return fmt::format(
        "The {} returned while {} of its reads of LDS fill registers: no s_waitcnt lgkmcnt(0) "
        "follows them.",
        who(thread), thread.reads.pending.size());
  });
}

}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

void buffer_load_lds(SharedAddress first, const BufferResource& resource, std::uint32_t offset,
                     unsigned bytes) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  require_whole_warp(machine, thread, load_name, wave_lanes);
  check_load(machine, thread, first, bytes);
  Warp& warp = *thread.warp;
  warp.brought[thread.lane] = first;
  warp.source_lane[thread.lane] = offset;
  warp.operands[thread.lane] = {nullptr, static_cast<const std::uint32_t*>(resource.base), nullptr};
  warp.result[thread.lane] = resource.bytes;
  meet(machine, thread, Collective::LdsLoad, [&] {
    check_same_in_all_lanes(machine, thread, "M0 of buffer_load lds");
    for (unsigned lane = 0; lane < wave_lanes; ++lane) {
      if (warp.operands[lane].a == resource.base && warp.result[lane] == resource.bytes) {
        continue;
      }
      machine.report(Checker::Divergence, -1, load_name, [&] {
        return fmt::format("In wave {} of CTA {}, lane {} gives {} another resource than lane 63.",
                           warp.index, warp.cta->index, lane, load_name);
      });
      break;
    }
    issue_load(machine, warp, first, resource, bytes);
  });
}

void ds_read(std::uint32_t* registers, SharedAddress address, unsigned bytes) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  const char* const name = bytes == 16  ? "ds_read_b128"
                           : bytes == 8 ? "ds_read_b64"
                                        : "ds_read_b32";
  LdsRead read = {registers, bytes, name, {}};
  read_lds(machine, thread, address, bytes, ++thread.reads.issued, read.words, read.instruction);
  pend(thread, read);
}

void ds_read_tr_b16(std::uint32_t* registers, SharedAddress address) {
  constexpr const char* instruction = "ds_read_b64_tr_b16";
  Engine& machine = engine();
  Thread& thread = machine.enter();
  require_whole_warp(machine, thread, instruction, wave_lanes);
  Warp& warp = *thread.warp;
  ++thread.reads.issued;
  warp.matrix_row[thread.lane] = address;
  warp.operands[thread.lane].d = registers;
  meet(machine, thread, Collective::TransposedRead, [&] {
    check_same_reads(machine, warp);
    std::uint16_t pieces[wave_lanes][4];
    for (unsigned lane = 0; lane < wave_lanes; ++lane) {
      const Thread& reader = warp.cta->threads[warp.first_thread + lane];
      read_lds(machine, reader, warp.matrix_row[lane], 8, reader.reads.issued, pieces[lane],
               instruction);
    }
    for (unsigned lane = 0; lane < wave_lanes; ++lane) {
      LdsRead read = {static_cast<std::uint32_t*>(warp.operands[lane].d), 8, instruction, {}};
      std::uint16_t halves[4];
      for (unsigned line = 0; line < 4; ++line) {
        halves[line] = pieces[lane / 16 * 16 + lane / 4 % 4 + 4 * line][lane % 4];
      }
      std::memcpy(read.words, halves, sizeof(halves));
      pend(warp.cta->threads[warp.first_thread + lane], read);
    }
  });
}

void s_waitcnt(unsigned vmcnt, unsigned lgkmcnt) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  require_whole_warp(machine, thread, "s_waitcnt", wave_lanes);
  Warp& warp = *thread.warp;
  WaveMemory& memory = warp.memory;
  warp.brought[thread.lane] = vmcnt << 8 | lgkmcnt;
  meet(machine, thread, Collective::Waitcnt, [&] {
    check_same_in_all_lanes(machine, thread, "s_waitcnt");
    check_same_reads(machine, warp);
  });
  if (lgkmcnt < thread.reads.issued && memory.read_agent != no_slot) {
    machine.order.learn(thread, memory.reads_done, memory.read_agent,
                        thread.reads.issued - lgkmcnt);
  }
  fill_registers(thread, lgkmcnt);
  if (lgkmcnt == 0) thread.reads.stored_at = LaneReads::nowhere;
  const Epoch epoch = memory.loads.epoch_to_wait_for(vmcnt);
  if (epoch == 0) return;
  const TimedWait timed(machine, "loads to LDS");
  if (!memory.loads.have_landed(epoch)) {
    machine.sleep(memory.load_waiters, {WaitKind::WaveLoads, nullptr, epoch});
  }
  memory.loads.waited(epoch);
  if (memory.load_agent != no_slot) {
    machine.order.learn(thread, memory.loads_done, memory.load_agent, epoch);
  }
}

void s_barrier() {
  Thread& thread = engine().current();
  check_stores(engine(), thread);
  barrier_sync(0, static_cast<unsigned>(thread.cta->threads.size()));
}

// Which wave issues first changes no result.
void s_setprio(unsigned) { engine().enter(); }

}  // namespace tw::model
