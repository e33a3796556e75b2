// One GPU thread, and the warp it belongs to.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "tilewright/isa/model.h"
#include "vgpu/machine/bulk_group.h"
#include "vgpu/machine/clock.h"
#include "vgpu/machine/copy_group.h"
#include "vgpu/machine/fragment_set.h"
#include "vgpu/machine/mbarrier.h"
#include "vgpu/machine/operand_registers.h"
#include "vgpu/machine/stack_pool.h"
#include "vgpu/machine/step_chooser.h"
#include "vgpu/machine/tensor_state.h"
#include "vgpu/machine/wait.h"
#include "vgpu/machine/wave_memory.h"

namespace tw::vgpu {

struct CopyBatch;
struct Cta;

// A warp has as many lanes as its launch says, 32 or 64. NVIDIA's warp instructions are of 32.
constexpr unsigned warp_lanes = 32;
constexpr unsigned most_lanes = 64;
using LaneMask = std::uint64_t;  // bit per lane
constexpr LaneMask lane_bit(unsigned lane) { return LaneMask{1} << lane; }
constexpr LaneMask first_lanes(unsigned count) {
  return count == most_lanes ? ~LaneMask{0} : lane_bit(count) - 1;
}
constexpr std::uint64_t no_step = ~std::uint64_t{0};

// Instructions for which the lanes of a warp meet. Lanes that meet in different ones never get on.
enum class Collective : std::uint8_t {
  Sync,
  Shuffle,
  Stmatrix,
  Setmaxnreg,
  Ldmatrix,
  Mma,
  Mfma,
  TensorAllocation,
  TensorAccess,
  TensorWait,
  LdsLoad,
  TransposedRead,
  Waitcnt,
};
constexpr unsigned collective_count = 13;
const char* name_of(Collective collective);

struct Rendezvous {
  Collective collective = Collective::Sync;
  LaneMask arrived = 0;
  WaitList waiters;
  ReleaseClock arriving;  // warp_sync orders memory; the others do not
};

// A setmaxnreg that a warp executed: registers of each thread from then on.
struct RegisterChange {
  unsigned registers;
  bool increase;
  bool operator==(const RegisterChange&) const = default;
};

// A lane's registers in a matrix instruction.
struct LaneOperands {
  void* d = nullptr;
  const std::uint32_t* a = nullptr;
  const std::uint32_t* b = nullptr;
};

struct Warp {
  Cta* cta = nullptr;
  unsigned index = 0;
  unsigned first_thread = 0;  // its index in the CTA
  LaneMask lanes = 0;         // that exist
  LaneMask finished = 0;      // that have returned
  std::vector<RegisterChange> register_changes;
  std::array<Rendezvous, collective_count> rendezvous;
  // What each lane brought to a rendezvous, and what it takes home.
  std::array<std::uint32_t, most_lanes> brought;
  std::array<unsigned, most_lanes> source_lane;
  std::array<std::uint32_t, most_lanes> result;
  std::array<SharedAddress, most_lanes> matrix_row;
  std::uint32_t stmatrix_registers[most_lanes][4];
  std::array<LaneOperands, most_lanes> operands;
  WarpTensorState tensor;
  WaveMemory memory;
};

// An arrival at an mbarrier that waits for copies to land.
struct CopyArrival {
  Mbarrier* barrier;
  Epoch epoch;  // the last of these copies
};

enum class ThreadState : std::uint8_t { Ready, Running, Sleeping, Finished };

struct Thread {
  void* context = nullptr;  // where to resume the fiber
  Stack stack;
  Cta* cta = nullptr;
  Warp* warp = nullptr;
  unsigned index = 0;  // in the CTA
  unsigned lane = 0;
  ThreadState state = ThreadState::Ready;
  Wait wait;
  Thread* next_waiter = nullptr;
  // Where steps are chosen one by one: whether it may go on, and what says so; empty: it may.
  std::function<bool()> may_go;
  Touch awaits = {};
  bool sleeps_untold = false;   // it sleeps in an instruction that did not say what it touches
  std::uint32_t submitted = 0;  // landings
  std::uint64_t time = 0;       // picoseconds

  Process process() const;  // cluster.cpp

  const void* program = nullptr;  // where an interpreter has the thread's state

  const char* role = nullptr;
  std::uint64_t step = no_step;
  const Mbarrier* passed = nullptr;  // the mbarrier that it waited for last
  LastArrival let_pass;              // who completed that phase

  unsigned votes = 0;  // true ones at the barrier with a reduction that it waited for last

  bool cluster_arrived = false;         // at the cluster barrier, and has not waited yet
  std::uint64_t cluster_phase = 0;      // in which it arrived
  std::uint64_t cluster_waited = 0;     // phases of the cluster barrier that it has seen complete
  ClockRef fenced_release;              // what its last fence_async_release_cluster came behind
  ClockRef awaited_fenced;              // what fence_async_acquire_cluster tells it
  std::vector<Mbarrier*> new_barriers;  // that it initialised
  std::vector<Mbarrier*> fenced_barriers;  // those published by fence.mbarrier_init

  ClockRef fence_released;    // what its last fence of strong accesses came behind
  ClockRef relaxed_acquired;  // what the next one tells it: relaxed loads have read it

  bool behind_grids = false;            // it comes after a griddepcontrol.wait
  const char* touched_early = nullptr;  // memory of earlier grids that it touched before that

  ThreadView view;
  BulkGroups bulk;
  Slot bulk_agent = no_slot;
  Slot bulk_writer = no_slot;
  ClockRef bulk_done, bulk_written;

  // cp.async.
  CopyGroups copies;
  CopyBatch* open_copies = nullptr;  // takes more copies until it lands
  std::deque<CopyArrival> copy_arrivals;
  Slot copy_agent = no_slot;
  ClockRef copies_done;

  LaneReads reads;  // from LDS, in flight

  // wgmma, counted since the thread began.
  std::uint64_t wgmma_issued = 0;
  std::uint64_t wgmma_committed = 0;             // groups
  std::uint64_t wgmma_waited_ops = 0;            // products that this thread knows to be done
  std::uint64_t wgmma_missed_ops = 0;            // products up to here were found to lack a wait
  bool wgmma_fenced = false;                     // a wgmma.fence was executed at all
  std::vector<OperandRegisters> wgmma_operands;  // A's registers, in flight
  FragmentSet touched;                           // since the last wgmma.fence
  FragmentSet defined;                           // touched or produced, ever

  // tcgen05.
  std::unique_ptr<TensorPipeline> tensor_pipeline;  // takes products and copies; null if it issues
                                                    // none
  ClockRef tensor_known;  // what it had heard at its last tcgen05.fence::after_thread_sync
};

}  // namespace tw::vgpu
