// Counters that threads add to and wait for, in shared and in global memory.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

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

// What each value of a counter has released. A wait learns only of what its target took: a count
// that went further by then is luck.
class CounterHistory {
 public:
  struct Step {
    std::uint32_t value;
    ClockRef released;
    std::uint64_t time;
  };
  void restart(Step step) { steps_ = {std::move(step)}; }
  void add(Step step) {
    steps_.push_back(std::move(step));
    if (steps_.size() > most_steps) steps_.pop_front();
  }
  bool is_new() const { return steps_.size() < 2; }
  const Step& last() const { return steps_.back(); }
  const Step& of(std::uint32_t target) const {
    for (const Step& step : steps_) {
      if (has_reached(step.value, target)) return step;
    }
    return steps_.back();
  }

 private:
  static constexpr std::size_t most_steps = 256;  // before that a wait learns a little more
  std::deque<Step> steps_;
};

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
  CounterHistory history;
};
std::string counter_name(const Counter& counter);  // "full stage 2 of CTA 0"

// The value lies in memory; other means than these instructions may change it. Threads of all
// clusters release to it.
struct GlobalCounter {
  const std::uint32_t* place = nullptr;
  WaitList waiters;
  CounterHistory history;
};
using GlobalCounters = std::unordered_map<const std::uint32_t*, GlobalCounter>;
std::string global_counter_name(Engine& machine, const GlobalCounter& counter);

// The counter of a place, which begins with what is there.
GlobalCounter& global_counter(Engine& machine, const std::uint32_t* place);

// Wakes who waits for a count that other means than these instructions have reached; false if
// nobody does.
bool wake_reached(Engine& machine);

}  // namespace tw::vgpu

namespace tw::model {

// ld.acquire.gpu.global.u32: the value, and what was released up to it. Where one is unwanted, it
// sleeps while that is the value. isa/ptx has none of it alone: its kernels wait for counts.
std::uint32_t global_load_acquire(const std::uint32_t* place, const std::uint32_t* unwanted);

}  // namespace tw::model
