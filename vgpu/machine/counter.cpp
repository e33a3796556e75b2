#include "vgpu/machine/counter.h"

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/machine/engine.h"
#include "vgpu/machine/global_access.h"
#include "vgpu/machine/timed_wait.h"

namespace tw::vgpu {

std::string counter_name(const Counter& counter) {
  if (counter.name == nullptr) {
    return fmt::format("the counter at byte {} of CTA {}", counter.offset, counter.cta->index);
  }
  return fmt::format("{} stage {} of CTA {}", counter.name, counter.stage, counter.cta->index);
}

std::string global_counter_name(Engine& machine, const GlobalCounter& counter) {
  const GlobalMemory::Range* range = machine.global.nearest(counter.place);
  if (range == nullptr) return "a global counter";
  const auto offset = reinterpret_cast<const std::byte*>(counter.place) - range->begin;
  return fmt::format("the counter at byte {} of {}", offset, range->name);
}

GlobalCounter& global_counter(Engine& machine, const std::uint32_t* place) {
  GlobalCounter& counter = machine.global_counters[place];
  if (counter.place == nullptr) {
    counter.place = place;
    counter.history.restart({*place, {}, 0});
  }
  return counter;
}

namespace {

SharedPlace counter_place(Engine& machine, SharedAddress address, const char* instruction) {
  const SharedPlace place = machine.resolve_own(address, 4, instruction);
  if (place.offset % 4 == 0) return place;
  machine.report(Checker::Alignment, -1, instruction, [&] {
    return fmt::format("The {} gives {} a counter at byte {}; counters are 4-byte aligned.",
                       who(machine.current()), instruction, place.offset);
  });
  machine.abandon();
}

Counter& usable_counter(Engine& machine, const Thread& thread, SharedAddress address,
                        const char* instruction) {
  const SharedPlace place = counter_place(machine, address, instruction);
  Counter& counter = place.cta->counters[place.offset];
  counter.cta = place.cta;
  counter.offset = place.offset;
  const Clock* known = thread.view.known.get();
  const bool ordered = !machine.order.enabled() || thread.view.self == counter.init_slot ||
                       (known != nullptr && known->covers(counter.init_slot, counter.init_epoch));
  if (counter.initialised && ordered) return counter;
  machine.report(Checker::BarrierLife, counter.stage, counter.name, [&] {
    return fmt::format("The {} uses {} in {}, but {}.", who(thread), counter_name(counter),
                       instruction,
                       counter.initialised ? "no barrier orders the init before this use"
                                           : "it was never initialised");
  });
  if (!counter.initialised) machine.abandon();
  return counter;
}

void check_aligned(Engine& machine, const void* counter, const char* instruction) {
  if (reinterpret_cast<std::uintptr_t>(counter) % 4 == 0) return;
  machine.report(Checker::Alignment, -1, instruction, [&] {
    return fmt::format("The {} gives {} a counter that is not 4-byte aligned.",
                       who(machine.current()), instruction);
  });
  machine.abandon();
}

std::uint32_t* writable_counter(Engine& machine, Thread& thread, std::uint32_t* counter,
                                const char* instruction) {
  check_aligned(machine, counter, instruction);
  touch_global(machine, thread, counter);
  if (!may_write_global(machine, thread, counter, 4)) machine.abandon();
  machine.step.global(TouchKind::Writes, counter, 4);
  return counter;
}

// Read, changed and written at once.
std::uint32_t* atomic_counter(Engine& machine, Thread& thread, std::uint32_t* counter,
                              const char* instruction) {
  check_aligned(machine, counter, instruction);
  if (!may_read_global(machine, thread, counter, 4)) machine.abandon();
  return writable_counter(machine, thread, counter, instruction);
}

bool wake_reached(Engine& machine, GlobalCounter& counter) {
  return machine.wake_if(counter.waiters, counter.history.last().time, [&](const Thread& waiter) {
    const auto value = static_cast<std::uint32_t>(waiter.wait.detail);
    return waiter.wait.kind == WaitKind::GlobalChange ? *counter.place != value
                                                      : has_reached(*counter.place, value);
  });
}

// Where steps are chosen one by one, the wait is a step that is taken when it ends.
Thread& enter_when_reached(Engine& machine, const std::uint32_t* place, unsigned target) {
  if (!machine.step.is_on() || machine.global.find(place, 4) == nullptr) return machine.enter();
  const auto begin = reinterpret_cast<std::uintptr_t>(place);
  const Touch awaits = {TouchSpace::Global, TouchKind::Reads, 0, begin, begin + 4};
  return machine.enter_when({WaitKind::GlobalCounter, &global_counter(machine, place), target},
                            awaits, [place, target] { return has_reached(*place, target); });
}

// After an addition, which also hands on what was released before it.
void added(Engine& machine, const Thread& thread, GlobalCounter& counter, ClockRef released) {
  const std::uint64_t time = std::max(counter.history.last().time, thread.time);
  counter.history.add({*counter.place, std::move(released), time});
  wake_reached(machine, counter);
}

}  // namespace

bool wake_reached(Engine& machine) {
  bool woken = false;
  for (auto& [place, counter] : machine.global_counters) woken |= wake_reached(machine, counter);
  return woken;
}

}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

void counter_init(SharedAddress address) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  const SharedPlace place = counter_place(machine, address, "counter_init");
  Counter& counter = place.cta->counters[place.offset];
  counter.cta = place.cta;
  counter.offset = place.offset;
  if (counter.waiters.first != nullptr) {
    machine.report(Checker::BarrierLife, counter.stage, counter.name, [&] {
      return fmt::format("The {} initialises {} again while threads wait for it.", who(thread),
                         counter_name(counter));
    });
    machine.abandon();
  }
  counter.initialised = true;
  counter.value = 0;
  counter.init_slot = thread.view.self;
  counter.init_epoch = machine.order.mark(thread);
  counter.history.restart({0, {}, thread.time});
  if (place.cta->shadow != nullptr) place.cta->shadow->mark_barrier(place.offset, 4);
}

void counter_add_release(SharedAddress address, unsigned value) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  Counter& counter = usable_counter(machine, thread, address, "counter_add_release");
  thread.reads.stored_at = LaneReads::nowhere;  // CDNA's release waits
  counter.value += value;
  counter.adding_role = thread.role;
  const CounterHistory::Step& last = counter.history.last();
  counter.history.add({counter.value, machine.order.release_after(last.released, thread),
                       std::max(last.time, thread.time)});
  machine.made_progress();
  machine.wake_if(counter.waiters, counter.history.last().time, [&](const Thread& waiter) {
    return has_reached(counter.value, static_cast<std::uint32_t>(waiter.wait.detail));
  });
}

void counter_wait_at_least(SharedAddress address, unsigned target) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  Counter& counter = usable_counter(machine, thread, address, "counter_wait_at_least");
  const TimedWait timed(machine, counter.name == nullptr ? "a counter" : counter.name,
                        counter.stage);
  if (!has_reached(counter.value, target)) {
    machine.sleep(counter.waiters, {WaitKind::Counter, &counter, target});
  }
  const CounterHistory::Step& step = counter.history.of(target);
  machine.order.acquire(thread, step.released);
  thread.time = std::max(thread.time, step.time);
}

void global_add_release(std::uint32_t* place, unsigned value) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  machine.step.tells();
  std::uint32_t& count = *atomic_counter(machine, thread, place, "global_add_release");
  GlobalCounter& counter = global_counter(machine, place);
  count += value;
  added(machine, thread, counter,
        machine.order.release_to_all(counter.history.last().released, thread));
}

void global_store_release(std::uint32_t* place, unsigned value) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  machine.step.tells();
  *writable_counter(machine, thread, place, "global_store_release") = value;
  GlobalCounter& counter = global_counter(machine, place);
  // Who reads this value does not read what earlier writers released.
  const std::uint64_t time = std::max(counter.history.last().time, thread.time);
  counter.history.restart({value, machine.order.release_to_all({}, thread), time});
  wake_reached(machine, counter);
}

void global_wait_at_least(const std::uint32_t* place, unsigned target) {
  Engine& machine = engine();
  Thread& thread = enter_when_reached(machine, place, target);
  machine.step.tells();
  machine.step.global(TouchKind::Reads, place, 4);
  check_aligned(machine, place, "global_wait_at_least");
  touch_global(machine, thread, place);
  if (!may_read_global(machine, thread, place, 4)) machine.abandon();
  GlobalCounter& counter = global_counter(machine, place);
  const TimedWait timed(machine, "parts of sums");
  if (!has_reached(*place, target)) {
    machine.sleep(counter.waiters, {WaitKind::GlobalCounter, &counter, target});
  }
  const CounterHistory::Step& step = counter.history.of(target);
  machine.order.acquire_from_all(thread, step.released);
  thread.time = std::max(thread.time, step.time);
}

std::uint32_t global_load_acquire(const std::uint32_t* place, const std::uint32_t* unwanted) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  if (unwanted == nullptr) machine.step.tells();  // it waits for nobody
  machine.step.global(TouchKind::Reads, place, 4);
  check_aligned(machine, place, "global_load_acquire");
  touch_global(machine, thread, place);
  if (!may_read_global(machine, thread, place, 4)) machine.abandon();
  GlobalCounter& counter = global_counter(machine, place);
  if (unwanted != nullptr && *place == *unwanted) {
    const TimedWait timed(machine, "a global counter");
    machine.sleep(counter.waiters, {WaitKind::GlobalChange, &counter, *unwanted});
  }
  const std::uint32_t value = *place;
  const CounterHistory::Step& step = counter.history.of(value);
  machine.order.acquire_from_all(thread, step.released);
  thread.time = std::max(thread.time, step.time);
  return value;
}

std::uint32_t global_fetch_add(std::uint32_t* place, unsigned value) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  machine.step.tells();
  std::uint32_t& count = *atomic_counter(machine, thread, place, "global_fetch_add");
  const std::uint32_t before = count;
  count += value;
  const auto known = machine.global_counters.find(place);
  if (known != machine.global_counters.end()) {
    added(machine, thread, known->second, known->second.history.last().released);
  }
  return before;
}

void global_atomic_max(std::uint32_t* place, std::uint32_t value) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  std::uint32_t& maximum = *atomic_counter(machine, thread, place, "global_atomic_max");
  maximum = std::max(maximum, value);
}

}  // namespace tw::model
