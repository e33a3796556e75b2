// A CTA and a cluster of them while they are resident.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "vgpu/machine/counter.h"
#include "vgpu/machine/mbarrier.h"
#include "vgpu/machine/named_barrier.h"
#include "vgpu/machine/region.h"
#include "vgpu/machine/shadow.h"
#include "vgpu/machine/tensor_memory.h"
#include "vgpu/machine/thread.h"
#include "vgpu/machine/warpgroup.h"

namespace tw::vgpu {

struct Cluster;

// Addresses of each CTA start here, so that 0 is never an address; bits from 24 name the CTA by its
// rank, as on Hopper, so that whoever builds a descriptor of an address must take them off.
constexpr SharedAddress window_begin = 1024;
constexpr unsigned window_rank_shift = 24;
constexpr SharedAddress window_offset_mask = (SharedAddress{1} << window_rank_shift) - 1;

// What CTAs on the same streaming multiprocessor share in time: picoseconds at which it is free.
struct Multiprocessor {
  std::uint64_t copy_engine_free = 0;
  std::uint64_t tensor_core_free = 0;
  std::uint64_t time = 0;  // the last CTA ended
};

// The latest access of a peer's thread to a CTA's shared memory.
struct PeerAccess {
  const Thread* thread;
  Epoch epoch;
  std::uint64_t cluster_phase;  // the cluster barrier's, at the access
};

struct Cta {
  Cluster* cluster = nullptr;
  unsigned index = 0;  // in the grid
  unsigned rank = 0;   // in the cluster
  Multiprocessor* multiprocessor = nullptr;

  struct FreeArena {
    void operator()(std::byte* arena) const;
  };
  std::unique_ptr<std::byte, FreeArena> shared;  // aligned to 1024 bytes
  std::uint32_t shared_bytes = 0;
  // Where a kernel's pointers lead: nothing but NaN, so that who reads past the model gets no right
  // results. An element has its value there while it is accessed. Null: no checking.
  std::unique_ptr<std::byte, FreeArena> facade;
  std::uint32_t lent_offset = 0, lent_bytes = 0;  // the facade's bytes that hold values now

  const std::byte* kernel_view() const { return facade != nullptr ? facade.get() : shared.get(); }
  void lend(std::uint32_t offset, std::uint32_t bytes);
  // The first byte that a kernel wrote past the model, if any.
  std::optional<std::uint32_t> written_unseen();

  std::vector<Thread> threads;
  std::vector<Warp> warps;
  std::vector<Warpgroup> warpgroups;
  unsigned live_threads = 0;

  NamedBarrier named_barriers[named_barrier_count];
  MbarrierTable mbarriers;
  std::map<std::uint32_t, Counter> counters;  // by offset
  std::map<Slot, PeerAccess> peer_accesses;
  Regions regions;
  std::unique_ptr<Shadow> shadow;        // null: no checking
  std::unique_ptr<TensorMemory> tensor;  // null until something was allocated
  bool cancel_failed = false;            // it has seen a try_cancel that got nothing

  bool exited() const { return live_threads == 0; }
  Warpgroup& warpgroup_of(const Thread& thread) {
    return warpgroups[thread.index / warpgroup_threads];
  }
};

// Who touches shared memory on its own, after the instruction that asked for it.
enum class AgentKind : std::uint8_t {
  Copies,
  Products,
  Stores,       // they read shared memory
  StoreWrites,  // they write global memory
  ThreadCopies,
  TensorProducts,  // tcgen05.mma and .cp of one Thread
  WaveLoads,       // loads to LDS of one Warp
  WaveReads,       // reads of LDS of one Warp
  TensorNews,      // what a Warp or Thread has said about its accesses to tensor memory
  GridWaits,       // the Cluster's: touches nothing, its only epoch is that somebody waited
};
struct Agent {
  AgentKind kind;
  // The Mbarrier that copies signal; the Warpgroup; the storing or copying Thread; the Warp that
  // loads or reads.
  const void* owner;
};

struct Cluster {
  std::vector<std::unique_ptr<Cta>> ctas;
  unsigned live_threads = 0;
  ClusterBarrier barrier;
  Slot first_agent = 0;  // slots below are threads, by rank and index
  std::vector<Agent> agents;
  Slot grid_waits = no_slot;  // who knows of it comes after a griddepcontrol.wait
  ClockRef grids_ended;

  unsigned index() const { return ctas[0]->index; }  // tells clusters apart
};

std::unique_ptr<Cta> make_cta(Cluster& cluster, unsigned index, unsigned rank, unsigned threads,
                              unsigned lanes, std::size_t shared_bytes,
                              Multiprocessor& multiprocessor, bool check);

}  // namespace tw::vgpu
