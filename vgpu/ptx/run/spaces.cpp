#include "vgpu/ptx/run/spaces.h"

#include <fmt/format.h>

#include "tilewright/isa/model/shared_memory.h"
#include "tilewright/layout/access.h"
#include "vgpu/machine/engine.h"
#include "vgpu/machine/global_access.h"
#include "vgpu/ptx/run/launch.h"

namespace tw::vgpu::ptx {
namespace {

[[noreturn]] void report_outside(const char* what, const char* verb, std::int64_t offset,
                                 unsigned bytes, std::uint64_t room) {
  Engine& machine = engine();
  machine.report(Checker::Bounds, -1, what, [&] {
    return fmt::format("The {} {} {} bytes at byte {} of {}, which has {}.", who(machine.current()),
                       verb, bytes, offset, what, room);
  });
  machine.abandon();
}

bool is_parameter(const Frame& frame, std::uint64_t address, unsigned bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(frame.running->parameters);
  const std::uint64_t offset = address - begin;
  const std::uint64_t room = frame.running->code->parameter_bytes;
  return address >= begin && bytes <= room && offset <= room - bytes;
}

std::byte* local_place(const Frame& frame, std::uint64_t address, unsigned bytes,
                       const char* verb) {
  const std::uint64_t offset = address - local_begin;
  const std::size_t room = frame.local->size();
  if (address < local_begin || bytes > room || offset > room - bytes) {
    report_outside("local memory", verb, static_cast<std::int64_t>(offset), bytes, room);
  }
  if (offset % bytes != 0) {
    Engine& machine = engine();
    machine.report(Checker::Alignment, -1, "local memory", [&] {
      return fmt::format("The {} {} {} bytes at byte {} of local memory; it must be a multiple.",
                         who(machine.current()), verb, bytes, offset);
    });
    machine.abandon();
  }
  return frame.local->data() + offset;
}

bool is_own(SharedAddress address) {
  return address >> window_rank_shift == engine().current().cta->rank;
}

}  // namespace

void load_global(void* value, std::uint64_t address, unsigned bytes) {
  const auto* const place = reinterpret_cast<const void*>(address);
  access_observer->read(tw::Space::Global, place, bytes, bytes, true);
  std::memcpy(value, place, bytes);
}

void store_global(std::uint64_t address, const void* value, unsigned bytes) {
  auto* const place = reinterpret_cast<void*>(address);
  access_observer->write(tw::Space::Global, place, value, bytes, bytes);
  std::memcpy(place, value, bytes);
}

void load_parameter(const Frame& frame, void* value, std::uint64_t address, unsigned bytes) {
  if (address < parameter_begin) return load_local(frame, value, address, bytes);
  address = generic_parameter(frame, address);
  if (!is_parameter(frame, address, bytes)) {
    const auto begin = reinterpret_cast<std::uintptr_t>(frame.running->parameters);
    report_outside("the parameters", "reads", static_cast<std::int64_t>(address - begin), bytes,
                   frame.running->code->parameter_bytes);
  }
  std::memcpy(value, reinterpret_cast<const void*>(address), bytes);
}

void load_local(const Frame& frame, void* value, std::uint64_t address, unsigned bytes) {
  std::memcpy(value, local_place(frame, address, bytes, "reads"), bytes);
}

void store_local(Frame& frame, std::uint64_t address, const void* value, unsigned bytes) {
  std::memcpy(local_place(frame, address, bytes, "writes"), value, bytes);
}

void load_generic(const Frame& frame, void* value, std::uint64_t address, unsigned bytes) {
  address = generic_parameter(frame, address);
  const std::uint64_t within = address & ~generic_mask;
  switch (address & generic_mask) {
    case generic_shared: {
      const auto window = static_cast<SharedAddress>(within);
      return is_own(window) ? model::load_shared(value, window, bytes)
                            : model::load_cluster(value, window, bytes);
    }
    case generic_local: return load_local(frame, value, within, bytes);
    default: break;
  }
  if (is_parameter(frame, address, bytes)) {
    std::memcpy(value, reinterpret_cast<const void*>(address), bytes);
  } else {
    load_global(value, address, bytes);
  }
}

void store_generic(Frame& frame, std::uint64_t address, const void* value, unsigned bytes) {
  const std::uint64_t within = address & ~generic_mask;
  switch (address & generic_mask) {
    case generic_shared: {
      const auto window = static_cast<SharedAddress>(within);
      return is_own(window) ? model::store_shared(window, value, bytes)
                            : model::store_cluster(window, value, bytes);
    }
    case generic_local: return store_local(frame, within, value, bytes);
    default: store_global(address, value, bytes);
  }
}

std::uint64_t generic_parameter(const Frame& frame, std::uint64_t address) {
  if (address < parameter_begin ||
      address - parameter_begin > frame.running->code->parameter_bytes) {
    return address;
  }
  return reinterpret_cast<std::uintptr_t>(frame.running->parameters) + address - parameter_begin;
}

const TensorMap* tensor_map_at(const Frame& frame, std::uint64_t address) {
  address = generic_parameter(frame, address);
  const auto* const map = reinterpret_cast<const TensorMap*>(address);
  if (is_parameter(frame, address, sizeof(TensorMap))) return map;
  Engine& machine = engine();
  if (!may_read_global(machine, machine.current(), map, sizeof(TensorMap))) machine.abandon();
  return map;
}

}  // namespace tw::vgpu::ptx
