// Who runs next, and which asynchronous effect lands next: the landing policy. It only chooses; the
// engine carries out what it chose.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/machine/machine.h"
#include "vgpu/machine/random.h"
#include "vgpu/machine/step_chooser.h"

namespace tw::vgpu {

struct Cluster;
struct Thread;

enum class LandingKind : std::uint8_t {
  Load,
  StoreRead,
  StoreWrite,
  Wgmma,
  ThreadCopies,
  StoreAsync,
  SharedCopy,
  TensorPipeline,
  TensorAccess,
  Cancel,
  WaveLoad,
};

struct PendingLanding {
  LandingKind kind;
  Cluster* cluster;
  void* operation;  // LoadOperation, StoreOperation, Warpgroup, CopyBatch, StoreAsyncOperation,
                    // SharedCopyOperation, TensorPipeline, TensorAccessOp, CancelOperation
  Process process = {};  // where steps are chosen one by one
};

class Schedule {
 public:
  explicit Schedule(const Options& options);

  void add_ready(Thread& thread);
  // Runs before anything else that is ready: a thread that only stepped aside for a landing.
  void add_ready_first(Thread& thread) { first_ = &thread; }
  void add_landing(const PendingLanding& landing) { landings_.push_back(landing); }

  struct Choice {
    Thread* thread = nullptr;  // run it, or, if null,
    PendingLanding landing;    // land this
  };
  // False when there is nothing to do.
  bool choose(Choice& choice);
  // Takes out the oldest landing, of this cluster if one is named; false when there is none.
  bool take_landing(const Cluster* cluster, PendingLanding& landing);

  // Instructions until the running thread has to give way; never more than a slice, so that a
  // thread that spins on memory cannot keep the machine.
  std::uint64_t draw_time_slice();
  // Whether a wait ends by its time limit: now and then, where schedules are drawn.
  bool wait_runs_out();

 private:
  class Queue {
   public:
    bool empty() const { return first_ == threads_.size(); }
    std::size_t size() const { return threads_.size() - first_; }
    void push(Thread* thread) { threads_.push_back(thread); }
    Thread* pop(std::size_t index);
    Thread* operator[](std::size_t index) const { return threads_[first_ + index]; }

   private:
    std::vector<Thread*> threads_;
    std::size_t first_ = 0;
  };

  bool is_starved(const Thread& thread) const;
  PendingLanding take(std::size_t index);
  std::size_t pick_landing();
  bool choose_adversarial(Choice& choice);
  bool choose_step(Choice& choice);

  Landing policy_;
  StepChooser* steps_;
  Random random_;
  Random limits_;                  // dice of their own: they do not change who runs next
  std::uint64_t landing_odds_;     // one in so many choices lands something early
  std::uint64_t preemption_odds_;  // one in so many instructions gives way
  unsigned variant_;               // which of the adversarial schedules
  std::uint64_t starvation_ = 0;   // changes which warps are starved
  Thread* first_ = nullptr;
  Queue ready_, starved_;
  std::vector<PendingLanding> landings_;
};

}  // namespace tw::vgpu
