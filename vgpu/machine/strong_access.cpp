#include "vgpu/machine/strong_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vgpu/machine/counter.h"
#include "vgpu/machine/global_access.h"
#include "vgpu/machine/global_race.h"
#include "vgpu/machine/timed_wait.h"

namespace tw::vgpu {
namespace {

void check_aligned(Engine& machine, std::uint64_t address, unsigned bytes,
                   const char* instruction) {
  if (address % bytes == 0) return;
  machine.report(Checker::Alignment, -1, instruction, [&] {
    return fmt::format("The {} gives {} the address {:#x} for {} bytes; it must be a multiple.",
                       who(machine.current()), instruction, address, bytes);
  });
  machine.abandon();
}

// The word that stands for a place: its history, and who waits for it.
GlobalCounter& counter_of(Engine& machine, const StrongPlace& place) {
  const auto address = reinterpret_cast<std::uintptr_t>(place.data) / 4 * 4;
  return global_counter(machine, reinterpret_cast<const std::uint32_t*>(address));
}

}  // namespace

StrongPlace strong_global(std::uint64_t address, unsigned bytes, const StrongUse& use) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  check_aligned(machine, address, bytes, use.instruction);
  auto* const data = reinterpret_cast<void*>(address);
  touch_global(machine, thread, data);
  if (use.reads && !may_read_global(machine, thread, data, bytes)) machine.abandon();
  if (use.writes && !may_write_global(machine, thread, data, bytes)) machine.abandon();
  if (machine.order.enabled()) {
    GlobalAccess access{Order::generic(thread, use.instruction)};
    access.atomic = true;
    if (use.writes) {
      judge_global_write(machine, data, data, bytes, access);
    } else {
      judge_global_read(machine, data, bytes, access);
    }
  }
  return {data, bytes};
}

StrongPlace strong_shared(SharedAddress address, unsigned bytes, const StrongUse& use) {
  Engine& machine = engine();
  const Thread& thread = machine.enter();
  check_aligned(machine, address, bytes, use.instruction);
  const SharedPlace place = machine.resolve(address, bytes, use.instruction);
  if (Shadow* shadow = place.cta->shadow.get()) {
    Access access = Order::generic(thread, use.instruction);
    if (use.reads) {
      shadow->read(machine, place.offset, bytes, access);
    } else {
      shadow->write(machine, place.offset, bytes, access);
    }
    shadow->forget(place.offset, bytes, true);
    if (use.writes) shadow->set_step(place.offset, bytes, no_step);
  }
  return {place.data(), bytes};
}

void strong_read(const StrongPlace& place, const StrongUse& use, const void* unwanted) {
  Engine& machine = engine();
  Thread& thread = machine.current();
  GlobalCounter& counter = counter_of(machine, place);
  if (unwanted != nullptr && std::memcmp(place.data, unwanted, place.bytes) == 0) {
    const TimedWait timed(machine, "a value in memory");
    machine.sleep(counter.waiters, {WaitKind::GlobalChange, &counter, *counter.place});
  }
  const CounterHistory::Step& last = counter.history.last();
  if (acquires(use.semantics)) {
    machine.order.acquire_from_all(thread, last.released);
    thread.time = std::max(thread.time, last.time);
  } else {
    thread.relaxed_acquired = machine.order.join(thread.relaxed_acquired, last.released);
  }
}

void strong_written(const StrongPlace& place, const StrongUse& use) {
  Engine& machine = engine();
  Thread& thread = machine.current();
  GlobalCounter& counter = counter_of(machine, place);
  const CounterHistory::Step& last = counter.history.last();
  // A store begins anew; an atomic operation hands on what was released before it.
  const ClockRef before = use.reads ? last.released : ClockRef();
  const std::uint64_t time = std::max(last.time, thread.time);
  ClockRef released = releases(use.semantics) ? machine.order.release_to_all(before, thread)
                                              : machine.order.join(before, thread.fence_released);
  counter.history.restart({*counter.place, std::move(released), time});
  machine.made_progress();
  machine.wake_all(counter.waiters, time);
}

void fence_strong() {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  machine.order.acquire_from_all(thread, thread.relaxed_acquired);
  thread.relaxed_acquired = {};
  thread.fence_released = machine.order.release_to_all({}, thread);
}

}  // namespace tw::vgpu
