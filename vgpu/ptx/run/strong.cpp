// Strong loads and stores (volatile, relaxed, acquire, release), and atomic operations.
#include <algorithm>
#include <bit>
#include <cmath>

#include "vgpu/machine/strong_access.h"
#include "vgpu/ptx/run/access_types.h"
#include "vgpu/ptx/run/change.h"
#include "vgpu/ptx/run/polling.h"
#include "vgpu/ptx/run/spaces.h"

namespace tw::vgpu::ptx {
namespace {

using namespace change;

constexpr unsigned most_bytes = 16;

// What a form says: bytes of an element, how many there are, whether a wider register gets its
// sign, the semantics, and whether the address is one of shared memory.
constexpr std::uint32_t detail_of(unsigned bytes, unsigned count, bool is_signed,
                                  Semantics semantics, bool is_shared) {
  return bytes | count << 8 | (is_signed ? 1u << 16 : 0) |
         static_cast<std::uint32_t>(semantics) << 20 | (is_shared ? 1u << 24 : 0);
}
unsigned bytes_in(std::uint32_t detail) { return detail & 0xff; }
unsigned count_in(std::uint32_t detail) { return detail >> 8 & 0xff; }
bool is_signed(std::uint32_t detail) { return (detail >> 16 & 1) != 0; }
Semantics semantics_in(std::uint32_t detail) { return static_cast<Semantics>(detail >> 20 & 3); }

StrongPlace place_of(const Frame& frame, const Step& step, const StrongUse& use) {
  const std::uint64_t address = address_of(frame, step.addresses[0]);
  const unsigned bytes = bytes_in(step.detail) * count_in(step.detail);
  if ((step.detail >> 24 & 1) != 0 || (address & generic_mask) == generic_shared) {
    return strong_shared(static_cast<SharedAddress>(address), bytes, use);
  }
  return strong_global(address, bytes, use);
}

void load(Frame& frame, const Step& step) {
  const StrongUse use{true, false, semantics_in(step.detail), "a strong load"};
  const bool is_polling = polls(frame, step);
  const StrongPlace place = place_of(frame, step, use);
  const unsigned bytes = bytes_in(step.detail);
  const bool may_sleep = is_polling && place.bytes <= sizeof frame.polled_value;
  strong_read(place, use, may_sleep ? &frame.polled_value : nullptr);
  std::uint64_t whole = 0;
  std::memcpy(&whole, place.data, std::min<std::size_t>(place.bytes, sizeof whole));
  for (unsigned i = 0; i < count_in(step.detail); ++i) {
    std::uint64_t value = 0;
    std::memcpy(&value, static_cast<const std::byte*>(place.data) + i * bytes, bytes);
    if (is_signed(step.detail)) {
      const unsigned unused = 64 - 8 * bytes;
      value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
    }
    put_extended(frame, step.slots[i], step.is_wide, value);
  }
  note_poll(frame, step, whole);
}

void store(Frame& frame, const Step& step) {
  const StrongUse use{false, true, semantics_in(step.detail), "a strong store"};
  const StrongPlace place = place_of(frame, step, use);
  const unsigned bytes = bytes_in(step.detail);
  for (unsigned i = 0; i < count_in(step.detail); ++i) {
    std::memcpy(static_cast<std::byte*>(place.data) + i * bytes, frame.words + step.slots[i],
                bytes);
  }
  strong_written(place, use);
}

// atom d, [a], b and red [a], b; of several elements, each alone.
template <class T, class Operation, bool tells>
void change(Frame& frame, const Step& step) {
  const StrongUse use{true, true, semantics_in(step.detail), tells ? "atom" : "red"};
  const StrongPlace place = place_of(frame, step, use);
  strong_read(place, use);
  const unsigned count = count_in(step.detail);
  T before[most_bytes / sizeof(T)];
  std::memcpy(before, place.data, place.bytes);
  for (unsigned i = 0; i < count; ++i) {
    const T value = get<T>(frame, step.slots[(tells ? count : 0) + i]);
    const T after = Operation::of(before[i], value);
    std::memcpy(static_cast<std::byte*>(place.data) + i * sizeof(T), &after, sizeof(T));
  }
  strong_written(place, use);
  if constexpr (tells) {
    for (unsigned i = 0; i < count; ++i) put<T>(frame, step.slots[i], before[i]);
  }
}
// atom.cas d, [a], b, c: c where b was.
template <class T>
void compare_and_swap(Frame& frame, const Step& step) {
  const StrongUse use{true, true, semantics_in(step.detail), "atom.cas"};
  const bool is_polling = polls(frame, step);
  const StrongPlace place = place_of(frame, step, use);
  strong_read(place, use, is_polling ? &frame.polled_value : nullptr);
  T before;
  std::memcpy(&before, place.data, sizeof before);
  const bool is_expected = before == get<T>(frame, step.slots[1]);
  if (is_expected) {
    const T after = get<T>(frame, step.slots[2]);
    std::memcpy(place.data, &after, sizeof after);
    strong_written(place, use);
  }
  put<T>(frame, step.slots[0], before);
  // Who found something else will come back for the same.
  std::uint64_t whole = 0;
  std::memcpy(&whole, &before, sizeof before);
  if (!is_expected) note_poll(frame, step, whole);
}

struct SemanticsName {
  const char* name;
  Semantics semantics;
};
constexpr SemanticsName all_semantics[] = {{"", Semantics::Relaxed},
                                           {".relaxed", Semantics::Relaxed},
                                           {".acquire", Semantics::Acquire},
                                           {".release", Semantics::Release},
                                           {".acq_rel", Semantics::AcquireRelease}};
struct SpaceName {
  const char* name;
  bool is_shared;
};
constexpr SpaceName spaces[] = {{"", false},
                                {".global", false},
                                {".shared", true},
                                {".shared::cta", true},
                                {".shared::cluster", true}};

template <class Visit>
void each_place(const Visit& visit) {
  for (const SemanticsName& semantics : all_semantics) {
    for (const SpaceName& space : spaces) {
      visit(std::string(semantics.name) + space.name, semantics.semantics, space.is_shared);
    }
  }
}

template <class T, class Operation>
void add_change(FormTable& table, const std::string& operation, unsigned count = 1) {
  each_place([&](const std::string& place, Semantics semantics, bool is_shared) {
    const std::uint32_t detail = detail_of(sizeof(T), count, false, semantics, is_shared);
    std::string values;
    for (unsigned i = 0; i < count; ++i) values += letter<T>();
    if (count > 1) values = "{" + values + "}";
    table.add("atom" + place + operation, values + "A" + values, change<T, Operation, true>,
              detail);
    table.add("red" + place + operation, "A" + values, change<T, Operation, false>, detail);
  });
}
template <class T>
void add_compare_and_swap(FormTable& table, const std::string& type) {
  each_place([&](const std::string& place, Semantics semantics, bool is_shared) {
    const std::string value = letter<T>();
    table.add("atom" + place + ".cas" + type, value + "A" + value + value, compare_and_swap<T>,
              detail_of(sizeof(T), 1, false, semantics, is_shared));
  });
}
template <class T>
void add_order(FormTable& table, const std::string& type) {
  add_change<T, Least>(table, ".min" + type);
  add_change<T, Most>(table, ".max" + type);
}
template <class T>
void add_bits_of(FormTable& table, const std::string& type) {
  add_change<T, And>(table, ".and" + type);
  add_change<T, Or>(table, ".or" + type);
  add_change<T, Xor>(table, ".xor" + type);
  add_change<T, Exchange>(table, ".exch" + type);
  add_compare_and_swap<T>(table, type);
}

// Halves of a word, each alone.
template <class Format, class Operation>
void add_halves_change(FormTable& table, const std::string& operation, const std::string& type) {
  for (const std::string flush : {"", ".noftz"}) {
    add_change<std::uint16_t, Half<Format, Operation>>(table, operation + flush + type);
    add_change<std::uint32_t, Halves<Format, Operation>>(table, operation + flush + type + "x2");
    for (const unsigned count : {2u, 4u}) {
      const std::string vector = ".v" + std::to_string(count);
      add_change<std::uint32_t, Halves<Format, Operation>>(
          table, operation + flush + vector + type + "x2", count);
      add_change<std::uint32_t, Halves<Format, Operation>>(
          table, vector + operation + flush + type + "x2", count);
    }
  }
}

void add_accesses(FormTable& table) {
  for (const AccessType& element : access_types) {
    if (element.bytes > 8) continue;
    const std::string letter = element.bytes == 8 ? "8" : "r";
    for (const unsigned count : {1u, 2u, 4u}) {
      if (element.bytes * count > most_bytes) continue;
      std::string vector, registers = letter;
      if (count > 1) {
        vector = ".v" + std::to_string(count);
        registers = "{";
        for (unsigned i = 0; i < count; ++i) registers += letter;
        registers += "}";
      }
      each_place([&](const std::string& place, Semantics semantics, bool is_shared) {
        if (place.empty() || place[1] == 'g' || place[1] == 's') return;  // weak ones
        const std::uint32_t detail =
            detail_of(element.bytes, count, element.is_signed, semantics, is_shared);
        table.add("ld" + place + vector + element.name, registers + "A", load, detail);
        table.add("st" + place + vector + element.name, "A" + registers, store, detail);
      });
    }
  }
}

}  // namespace

void add_strong(FormTable& table) {
  add_accesses(table);
  for (const std::string type : {".u32", ".s32"})
    add_change<std::uint32_t, Add>(table, ".add" + type);
  for (const std::string type : {".u64", ".s64"})
    add_change<std::uint64_t, Add>(table, ".add" + type);
  add_change<float, Add>(table, ".add.f32");
  add_change<double, Add>(table, ".add.f64");
  for (const unsigned count : {2u, 4u}) {
    add_change<float, Add>(table, ".add.v" + std::to_string(count) + ".f32", count);
    add_change<float, Add>(table, ".v" + std::to_string(count) + ".add.f32", count);
    add_change<float, Add>(table, ".v" + std::to_string(count) + ".f32.add", count);
  }
  add_order<std::uint32_t>(table, ".u32");
  add_order<std::int32_t>(table, ".s32");
  add_order<std::uint64_t>(table, ".u64");
  add_order<std::int64_t>(table, ".s64");
  add_change<std::uint32_t, Increase>(table, ".inc.u32");
  add_change<std::uint32_t, Decrease>(table, ".dec.u32");
  add_bits_of<std::uint32_t>(table, ".b32");
  add_bits_of<std::uint64_t>(table, ".b64");
  add_compare_and_swap<std::uint16_t>(table, ".b16");
  add_halves_change<FormatF16, HalfAdd>(table, ".add", ".f16");
  add_halves_change<FormatBf16, HalfAdd>(table, ".add", ".bf16");
}

}  // namespace tw::vgpu::ptx
