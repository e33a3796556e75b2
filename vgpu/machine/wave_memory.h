// What a wave of CDNA has on its way: loads to LDS, which vmcnt counts, and reads of LDS, which
// lgkmcnt counts. Until the wave has waited they are the accesses of agents, which nobody's barrier
// orders. Plain stores to LDS, which lgkmcnt counts as well, are the lane's own: a wave's later
// accesses see them. They are found where s_barrier would hand them on before they are waited for.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/machine/clock.h"
#include "vgpu/machine/copy_group.h"
#include "vgpu/machine/wait.h"

namespace tw::vgpu {

class Engine;
struct Thread;
struct Warp;

// A wave's loads and reads of LDS. Each load is a group of its own: vmcnt(n) waits for all but the
// last n.
struct WaveMemory {
  CopyGroups loads;
  Slot load_agent = no_slot;
  ClockRef loads_done;
  WaitList load_waiters;
  Slot read_agent = no_slot;
  ClockRef reads_done;
};

// A read whose registers are not filled yet.
struct LdsRead {
  std::uint32_t* registers;
  unsigned bytes;
  const char* instruction;
  std::uint32_t words[4];
};

// A lane's reads of LDS that are in flight, and whether plain stores are.
struct LaneReads {
  std::vector<LdsRead> pending;  // in order
  Epoch issued = 0;
  static constexpr std::int64_t nowhere = -1;
  std::int64_t stored_at = nowhere;  // the first store since the lane waited for all of them
};

// One load of a wave, between issue and landing.
struct WaveLoad {
  Warp* warp;
  Epoch epoch;
  std::uint32_t offset;  // where lane 0 writes in LDS
  unsigned bytes;        // bytes that one lane loads
  std::uint64_t done_time;
  struct Lane {
    const std::byte* source;
    std::uint32_t inside;  // bytes that lie in the resource
  };
  Lane lanes[64];
};

void land_wave_load(Engine& machine, void* operation);
void discard_wave_load(void* operation);

// The lane is about to use these registers: a read must have filled them.
void check_filled(Engine& machine, const Thread& thread, const std::uint32_t* registers,
                  unsigned count, const char* instruction);
// Before the lane is gone.
void check_wave_exit(Engine& machine, const Thread& thread);

}  // namespace tw::vgpu
