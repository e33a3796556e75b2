#include "vgpu/machine/global_access.h"

#include <fmt/format.h>

#include <cstring>

#include "vgpu/machine/engine.h"
#include "vgpu/machine/global_race.h"

namespace tw::vgpu {
namespace {

// `range` holds the bytes, but may not be written; null: no range holds them.
void report_outside(Engine& machine, const Thread& thread, const void* begin, std::uint32_t bytes,
                    const char* verb, const GlobalMemory::Range* range = nullptr) {
  if (range == nullptr) range = machine.global.nearest(begin);
  machine.report_about(thread.role, Checker::Bounds, -1, range, [&] {
    const std::string count = fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
    if (range == nullptr) {
      return fmt::format("The {} {} {} of global memory at an address before all ranges.",
                         who(thread), verb, count);
    }
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    if (address >> 48 != 0) {  // null with an index of -1, for one
      return fmt::format("The {} {} {} of global memory at address {:#x}, behind all ranges.",
                         who(thread), verb, count, address);
    }
    return fmt::format("The {} {} {} at byte {} of {}, which has {} bytes{}.", who(thread), verb,
                       count, static_cast<const std::byte*>(begin) - range->begin, range->name,
                       range->end - range->begin, range->writable ? "" : " and is read-only");
  });
}

}  // namespace

bool may_read_global(Engine& machine, const Thread& thread, const void* begin,
                     std::uint32_t bytes) {
  GlobalMemory::Range* range = machine.global.find(begin, bytes);
  if (range == nullptr) {
    report_outside(machine, thread, begin, bytes, "reads");
    return false;
  }
  if (!GlobalMemory::initialised(*range, begin, bytes)) {
    machine.report_about(thread.role, Checker::Uninitialised, -1, range, [&] {
      return fmt::format("The {} reads byte {} of {}, which nobody has written.", who(thread),
                         static_cast<const std::byte*>(begin) - range->begin, range->name);
    });
  }
  return true;
}

bool may_write_global(Engine& machine, const Thread& thread, const void* begin,
                      std::uint32_t bytes) {
  GlobalMemory::Range* range = machine.global.find(begin, bytes);
  if (range == nullptr || !range->writable) {
    report_outside(machine, thread, begin, bytes, "writes", range);
    return false;
  }
  GlobalMemory::mark_written(*range, begin, bytes);
  machine.made_progress();
  return true;
}

namespace {

bool knows_of_grid_wait(const Thread& thread) {
  const Slot waits = thread.cta->cluster->grid_waits;
  const Clock* const known = thread.view.known.get();
  return waits != no_slot && known != nullptr && known->covers(waits, grids_have_ended);
}

}  // namespace

void touch_global(Engine& machine, Thread& thread, const void* begin) {
  if (thread.behind_grids) return;
  if (knows_of_grid_wait(thread)) {
    thread.behind_grids = true;
    return;
  }
  const GlobalMemory::Range* const range = machine.global.nearest(begin);
  if (range == nullptr || range->constant) return;
  if (!machine.launch.dependent_launch || !machine.order.enabled()) {
    if (thread.touched_early == nullptr) thread.touched_early = range->name;
    return;
  }
  machine.report(Checker::EarlyAccess, -1, range->name, [&] {
    return fmt::format(
        "The {} touches {} before a griddepcontrol.wait, its own or one that a barrier orders "
        "before it: the launch overlaps earlier grids, which may still use that memory.",
        who(thread), range->name);
  });
}

namespace {

// The offset of an element in the own CTA's shared memory. What lies elsewhere cannot be accessed,
// and the access would happen as soon as the observer returns: the thread ends here.
std::uint32_t shared_offset(Engine& machine, const void* element, unsigned bytes,
                            const char* verb) {
  const Cta& cta = *machine.current().cta;
  const auto* byte = static_cast<const std::byte*>(element);
  const std::byte* begin = cta.kernel_view();
  if (lies_in(byte, bytes, begin, cta.shared_bytes)) {
    return static_cast<std::uint32_t>(byte - begin);
  }
  machine.report(Checker::Bounds, -1, "element", [&] {
    return fmt::format(
        "The {} {} {} bytes through a shared pointer {} bytes from the begin of its CTA's {} bytes "
        "of shared memory.",
        who(machine.current()), verb, bytes, byte - begin, cta.shared_bytes);
  });
  machine.abandon();
}

// A GPU cannot make such an access: the thread ends here.
void check_aligned(Engine& machine, const void* element, unsigned alignment, const char* verb) {
  if (reinterpret_cast<std::uintptr_t>(element) % alignment == 0) return;
  machine.report(Checker::Alignment, -1, "element", [&] {
    return fmt::format("The {} {} an element that is not {}-byte aligned.", who(machine.current()),
                       verb, alignment);
  });
  machine.abandon();
}

void on_read(Space space, const void* element, unsigned bytes, unsigned alignment, bool wanted) {
  Engine& machine = engine();
  check_aligned(machine, element, alignment, "reads");
  if (space == Space::Global) {
    Thread& thread = machine.enter();
    machine.step.tells();
    touch_global(machine, thread, element);
    if (!may_read_global(machine, thread, element, bytes)) machine.abandon();
    machine.step.global(TouchKind::Reads, element, bytes);
    if (wanted) {
      GlobalAccess access{Order::generic(thread, "a load")};
      judge_global_read(machine, element, bytes, access);
    }
  } else if (space == Space::Shared) {
    Thread& thread = machine.enter();
    machine.step.tells();
    const std::uint32_t offset = shared_offset(machine, element, bytes, "reads");
    machine.step.shared(TouchKind::Reads, thread.cta->index, offset, bytes);
    if (Shadow* shadow = thread.cta->shadow.get()) {
      Access access = Order::generic(thread, "a load");
      shadow->read(machine, offset, bytes, access);
    }
    thread.cta->lend(offset, bytes);
  }
}

void on_write(Space space, const void* element, const void* value, unsigned bytes,
              unsigned alignment) {
  Engine& machine = engine();
  check_aligned(machine, element, alignment, "writes");
  if (space == Space::Global) {
    Thread& thread = machine.enter();
    machine.step.tells();
    touch_global(machine, thread, element);
    if (!may_write_global(machine, thread, element, bytes)) machine.abandon();
    machine.step.global(TouchKind::Writes, element, bytes);
    GlobalAccess access{Order::generic(thread, "a store")};
    judge_global_write(machine, element, value, bytes, access);
  } else if (space == Space::Shared) {
    Thread& thread = machine.enter();
    machine.step.tells();
    const std::uint32_t offset = shared_offset(machine, element, bytes, "writes");
    machine.step.shared(TouchKind::Writes, thread.cta->index, offset, bytes);
    if (Shadow* shadow = thread.cta->shadow.get()) {
      Access access = Order::generic(thread, "a store");
      shadow->write(machine, offset, bytes, access);
      shadow->set_step(offset, bytes, no_step);
    }
    std::memcpy(thread.cta->shared.get() + offset, value, bytes);
    thread.cta->lend(offset, bytes);
  }
}

}  // namespace

const AccessObserver element_observer = {on_read, on_write};

}  // namespace tw::vgpu
