// Lanes of a warp meet for an instruction: each brings its arguments, the last one does the work
// for all. A lane that never comes leaves the others asleep: a deadlock.
#pragma once

#include <algorithm>

#include "vgpu/machine/engine.h"

namespace tw::vgpu {

// Calls last() on the lane that completes the warp, before any lane goes on.
template <class Last>
void meet(Engine& machine, Thread& thread, Collective collective, Last&& last) {
  Warp& warp = *thread.warp;
  Rendezvous& rendezvous = warp.rendezvous[static_cast<unsigned>(collective)];
  rendezvous.arrived |= lane_bit(thread.lane);
  if (collective == Collective::Sync) machine.order.release(rendezvous.arriving, thread);
  if (rendezvous.arrived != warp.lanes) {
    machine.sleep(rendezvous.waiters,
                  {WaitKind::WarpCollective, &rendezvous, static_cast<std::uint64_t>(collective)});
    return;
  }
  rendezvous.arrived = 0;
  std::uint64_t time = thread.time;
  for (const Thread* waiter = rendezvous.waiters.first; waiter != nullptr;
       waiter = waiter->next_waiter) {
    time = std::max(time, waiter->time);
  }
  thread.time = time;
  last();
  if (collective == Collective::Sync) {
    const ClockRef done = rendezvous.arriving.finish();
    machine.order.acquire(thread, done);
    machine.order.acquire_all(rendezvous.waiters, done);
  }
  machine.wake_all(rendezvous.waiters, time);
}

// The lanes that a mask names meet, each with a value, and each takes home what combine(warp, lane)
// makes for it of Warp::brought and Warp::source_lane. Others may meet at the same time.
using CombineLanes = std::uint32_t (*)(const Warp& warp, unsigned lane, std::uint32_t mask);
std::uint32_t meet_among(std::uint32_t mask, std::uint32_t value, CombineLanes combine,
                         unsigned source_lane = 0, Collective collective = Collective::Shuffle);

// An instruction of so many lanes: all of them, and no more, or the run stops.
void require_whole_warp(Engine& machine, const Thread& thread, const char* instruction,
                        unsigned lanes = warp_lanes);

// What the lanes brought must be the same.
void check_same_in_all_lanes(Engine& machine, const Thread& thread, const char* instruction);

// The offset of the row that a lane gave to an instruction of 16-byte rows.
std::uint32_t matrix_row(Engine& machine, const Warp& warp, unsigned lane, const char* instruction);

}  // namespace tw::vgpu

namespace tw::model {

// ldmatrix of one, two or four matrices; isa/ptx has four alone.
void ldmatrix(std::uint32_t* registers, SharedAddress row, unsigned matrices, bool transposed);

}  // namespace tw::model
