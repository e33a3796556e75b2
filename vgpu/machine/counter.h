// Counters that threads add to and wait for, in shared and in global memory.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>

#include "vgpu/machine/clock.h"
#include "vgpu/machine/wait.h"

namespace tw::vgpu {

struct Cta;
struct Thread;
class Engine;

// Counts wrap: they are compared by the sign of the difference.
constexpr bool has_reached(std::uint32_t value, std::uint32_t target) {
  return static_cast<std::int32_t>(value - target) >= 0;
}

struct Counter {
  Cta* cta = nullptr;
  std::uint32_t offset = 0;
  const char* name = nullptr;
  int stage = -1;

  bool initialised = false;
  std::uint32_t value = 0;
  WaitList waiters;
  Slot init_slot = no_slot;
  Epoch init_epoch = 0;
  const char* adding_role = nullptr;  // the latest

  // What each value has released. A wait learns only of what its target took: a count that went
  // further by then is luck.
  struct Step {
    std::uint32_t value;
    ClockRef released;
    std::uint64_t time;
  };
  static constexpr std::size_t most_steps = 256;  // before that a wait learns a little more
  std::deque<Step> steps;

  const Step& step_of(std::uint32_t target) const {
    for (const Step& step : steps) {
      if (has_reached(step.value, target)) return step;
    }
    return steps.back();
  }
};
std::string counter_name(const Counter& counter);  // "full stage 2 of CTA 0"

// The value lies in memory; beside it, per cluster, what that cluster's threads have released to
// it: slots of clocks mean something within a cluster only, as shared memory does.
struct GlobalCounter {
  const std::uint32_t* place = nullptr;
  WaitList waiters;
  std::unordered_map<unsigned, ClockRef> released;
  std::uint64_t time = 0;
};
using GlobalCounters = std::unordered_map<const std::uint32_t*, GlobalCounter>;
std::string global_counter_name(Engine& machine, const GlobalCounter& counter);

// Wakes who waits for a count that other means than these instructions have reached; false if
// nobody does.
bool wake_reached(Engine& machine);

}  // namespace tw::vgpu
