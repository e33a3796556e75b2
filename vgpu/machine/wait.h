// What a thread sleeps on, and the list of those who sleep on the same thing.
#pragma once

#include <cstdint>

namespace tw::vgpu {

struct Thread;

enum class WaitKind : std::uint8_t {
  None,
  Mbarrier,
  NamedBarrier,
  ClusterBarrier,
  WarpCollective,
  BulkGroup,
  WgmmaGroup,
  CopyGroup,
  Counter,
  GlobalCounter,
  GlobalChange,
  TensorAllocation,
  TensorAccess,
  WaveLoads,
};

// Kept while the thread sleeps, for the wait-for graph of a deadlock.
struct Wait {
  WaitKind kind = WaitKind::None;
  const void* object = nullptr;  // the barrier, the rendezvous; null: the thread's own groups
  std::uint64_t detail = 0;      // parity, barrier id, target, or how many groups may stay pending
};

// Threads in the order in which they went to sleep, linked through Thread::next_waiter.
struct WaitList {
  Thread* first = nullptr;
  Thread* last = nullptr;
};

}  // namespace tw::vgpu
