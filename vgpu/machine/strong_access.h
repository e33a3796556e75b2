// Strong loads, stores and atomic operations of any memory, and the fences that go with them. Two
// of them never race; with plain accesses of global memory they do, unless something orders the
// two. Every scope counts as that of the GPU: an access whose scope is too narrow is not found.
#pragma once

#include <cstdint>

#include "tilewright/isa/model.h"
#include "vgpu/machine/engine.h"

namespace tw::vgpu {

enum class Semantics : std::uint8_t { Relaxed, Acquire, Release, AcquireRelease };
constexpr bool acquires(Semantics semantics) {
  return semantics == Semantics::Acquire || semantics == Semantics::AcquireRelease;
}
constexpr bool releases(Semantics semantics) {
  return semantics == Semantics::Release || semantics == Semantics::AcquireRelease;
}

// What an instruction does with its bytes. An atomic operation does both.
struct StrongUse {
  bool reads, writes;
  Semantics semantics;
  const char* instruction;
};

struct StrongPlace {
  void* data;
  unsigned bytes;
};

// The bytes for the running thread, whose instruction begins here; where they are not such as it
// may touch, the run ends.
StrongPlace strong_global(std::uint64_t address, unsigned bytes, const StrongUse& use);
StrongPlace strong_shared(SharedAddress address, unsigned bytes, const StrongUse& use);

// Before the value is taken. Where one is unwanted, the thread sleeps while that is the value.
void strong_read(const StrongPlace& place, const StrongUse& use, const void* unwanted = nullptr);
// After it was written.
void strong_written(const StrongPlace& place, const StrongUse& use);

// fence.acq_rel and fence.sc: strong accesses behind it release what came before it, and it learns
// what strong accesses before it have read.
void fence_strong();

}  // namespace tw::vgpu
