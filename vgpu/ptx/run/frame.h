// A virtual thread that runs PTX, and the steps that it takes. Every operand of a step is a place
// in the thread's words: registers, constants, special registers and addresses of variables alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tilewright/isa/model.h"

namespace tw::vgpu::ptx {

using Slot = std::uint32_t;  // which of the thread's words a value begins at
constexpr Slot no_slot_here = ~Slot{0};

struct Frame;
struct Step;
using Execute = void (*)(Frame& frame, const Step& step);

struct Address {
  Slot base;
  bool is_wide;  // it has 64 bits
  std::int64_t offset;
};

struct Step {
  Execute execute = nullptr;
  const Slot* slots = nullptr;         // its operands, without those in brackets
  const Address* addresses = nullptr;  // those in brackets
  // Registers among its operands that products may own; null: none.
  const Slot* owned = nullptr;
  std::uint32_t owned_count = 0;
  Slot guard = no_slot_here;  // the predicate under which it is taken
  bool guard_negated = false;
  bool is_wide = false;           // the register of its first operand has 64 bits
  std::uint32_t detail = 0;       // what its form says; see who executes it
  std::uint32_t target = 0;       // the step to which a branch goes
  std::uint32_t instruction = 0;  // its number in the function
  std::uint32_t site = 0;         // where it is, for findings; 0: it touches no memory
};

struct Body;
struct Running;

// A function that a thread is in.
struct Frame {
  const Body* body = nullptr;
  const Frame* caller = nullptr;  // null: it is the entry
  std::uint32_t* words = nullptr;
  std::vector<std::byte>* local = nullptr;  // the thread's: what a caller has lies before it
  std::uint32_t local_base = 0;
  bool exits = false;      // the thread ends, and not only the function
  std::uint32_t next = 0;  // the step to take
  std::uint32_t here = 0;  // the step that is taken
  const Running* running = nullptr;
  // The last test of an mbarrier, or look at a counter, what it found, and the thread's time behind
  // it: whoever comes back without having done anything else is waiting.
  const Step* polled = nullptr;
  std::uint64_t polled_value = 0;
  std::uint64_t polled_time = 0;
};

template <class T>
T get(const Frame& frame, Slot slot) {
  T value;
  std::memcpy(&value, frame.words + slot, sizeof value);
  return value;
}

template <class T>
void put(Frame& frame, Slot slot, T value) {
  std::memcpy(frame.words + slot, &value, sizeof value);
}

inline bool get_predicate(const Frame& frame, Slot slot) { return frame.words[slot] != 0; }
inline void put_predicate(Frame& frame, Slot slot, bool value) {
  frame.words[slot] = value ? 1 : 0;
}

// The value of a register, or of a constant, of any width as it stands in the first of `bytes`.
inline void put_extended(Frame& frame, Slot slot, bool is_wide, std::uint64_t value) {
  if (is_wide) {
    put(frame, slot, value);
  } else {
    put(frame, slot, static_cast<std::uint32_t>(value));
  }
}

inline std::uint64_t address_of(const Frame& frame, const Address& address) {
  const std::uint64_t base = address.is_wide ? get<std::uint64_t>(frame, address.base)
                                             : get<std::uint32_t>(frame, address.base);
  return base + static_cast<std::uint64_t>(address.offset);
}

// An address in the window of shared memory: of what a kernel says, the lower 32 bits.
inline SharedAddress shared_address_of(const Frame& frame, const Address& address) {
  return static_cast<SharedAddress>(address_of(frame, address));
}

// Ends the run: the instruction is not modelled, and so nothing can be said about the kernel.
[[noreturn]] void stop_incomplete(const Frame& frame, const char* why);

}  // namespace tw::vgpu::ptx
