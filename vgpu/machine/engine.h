// One run of the machine: resident clusters, fibers, and what every instruction needs. The files
// that implement tw::model, one per mechanism, reach it through `engine()`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/machine/cluster.h"
#include "vgpu/machine/findings.h"
#include "vgpu/machine/footprint.h"
#include "vgpu/machine/global_memory.h"
#include "vgpu/machine/machine.h"
#include "vgpu/machine/order.h"
#include "vgpu/machine/schedule.h"

namespace tw::vgpu {

// A place in the shared memory of one CTA.
struct SharedPlace {
  Cta* cta;
  std::uint32_t offset;
  std::byte* data() const { return cta->shared.get() + offset; }
};

struct Timeline;

class Engine {
 public:
  Engine(const Launch& launch, std::span<const GlobalRange> memory, const Options& options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Report run();

  const Launch& launch;
  const Options& options;
  Findings findings;
  GlobalMemory global;
  GlobalActors actors;
  CallSites call_sites;
  Order order;
  Timeline* const timeline;        // null: nobody records
  GlobalCounters global_counters;  // hold clocks of the order's pool
  StepRecord step;                 // what the step that runs now touches

  // Every instruction begins here: it costs time, and other threads may run first.
  Thread& enter();
  // The same for an instruction that waits. Where steps are chosen one by one, the thread steps
  // only when may_go() holds, which what it awaits decides.
  Thread& enter_when(Wait wait, const Touch& awaits, std::function<bool()> may_go);
  Thread& current() { return *current_; }
  // Where this thread is, which runs now or meets the running one for an instruction of its warp;
  // unknown of others.
  Site site_of(const Thread& thread) {
    if (current_ == nullptr || current_->warp != thread.warp || !order.enabled()) return {};
    if (launch.site) return numbered_site(launch.site(), thread.step);
    return call_sites.here(current_->stack, thread.step);
  }

  // Puts the running thread to sleep until somebody wakes the list.
  void sleep(WaitList& list, Wait wait);
  void wake_all(WaitList& list, std::uint64_t time);
  void wake(Thread& thread, std::uint64_t time);
  // Wakes those for whom ready(thread) holds; false if there are none.
  template <class Ready>
  bool wake_if(WaitList& list, std::uint64_t time, Ready&& ready) {
    const WaitList waiting = std::exchange(list, {});
    bool woken = false;
    for (Thread* thread = waiting.first; thread != nullptr;) {
      Thread* next = std::exchange(thread->next_waiter, nullptr);
      if (ready(*thread)) {
        wake(*thread, time);
        woken = true;
      } else {
        (list.first == nullptr ? list.first : list.last->next_waiter) = thread;
        list.last = thread;
      }
      thread = next;
    }
    return woken;
  }
  void submit(LandingKind kind, Cluster& cluster, void* operation);
  // Takes a cluster that has not started away from the grid; false if there is none left.
  bool cancel_cluster(unsigned& first_cta);
  void made_progress() { progress_steps_ = steps_; }
  // Whether a wait with a time limit, which would have to sleep now, ends without what it waits
  // for.
  bool wait_runs_out() { return schedule_.wait_runs_out(); }

  // The thread's body threw, or asked for something that the model lacks.
  [[noreturn]] void report_exception(const std::string& what);
  // What vgpu/data refuses ends the run where it was asked for. Were the thread's stack unwound,
  // its destructors would execute more instructions, and these would be blamed.
  template <class Ask>
  decltype(auto) refusing(Ask&& ask) {
    try {
      return ask();
    } catch (const std::exception& exception) {
      report_exception(exception.what());
    }
  }
  // Ends the run and never returns to the running thread: what it asked for cannot be done.
  [[noreturn]] void abandon();
  // Called by Watch, between any two instructions of the host. tick() abandons a thread that has
  // not entered the model since the last one; fault() abandons one that touched what lies below its
  // stack, and returns otherwise.
  void tick();
  void fault(const std::byte* address);
  // A finding about the running thread.
  template <class MakeText>
  void report(Checker checker, int stage, const void* subject, MakeText&& text) {
    report_about(current_->role, checker, stage, subject, std::forward<MakeText>(text));
  }
  // A finding about whoever plays this role; null if nobody does.
  template <class MakeText>
  void report_about(const char* role, Checker checker, int stage, const void* subject,
                    MakeText&& text) {
    report_two(role, checker, stage, subject, {}, std::forward<MakeText>(text));
  }
  // The same of two accesses, the second of which came first and was made at `other`.
  template <class MakeText>
  void report_two(const char* role, Checker checker, int stage, const void* subject, Site other,
                  MakeText&& text) {
    const bool is_here = current_ != nullptr && current_->role == role;
    const auto placed = [&] {
      std::string sentence = text();
      if (is_here && launch.place) sentence += " It is at " + launch.place() + ".";
      if (other.calls != 0 && launch.place_of_site) {
        sentence += " The other access is at " + launch.place_of_site(other.calls) + ".";
      }
      return sentence;
    };
    findings.add(checker, role, stage, subject, is_here, placed,
                 [&] { return launch.site ? Frames{} : call_sites.frames(other); });
    if (findings.full()) slice_ = 0;
  }

  // The place of `bytes` bytes at a window address, as the running thread sees it. Reports and
  // abandons the thread when they are not all inside one CTA's shared memory.
  SharedPlace resolve(SharedAddress address, std::uint32_t bytes, const char* instruction);
  // The same, and the address must be in the own CTA.
  SharedPlace resolve_own(SharedAddress address, std::uint32_t bytes, const char* instruction);
  // Whether this is local memory of a thread in the running one's cluster.
  bool is_local(const void* address) const;

 private:
  friend void fiber_main_of(Engine& engine, Thread& thread);

  void run_threads();
  void admit_clusters();
  void start_cluster();
  void retire(Cluster& cluster);
  void finish(Thread& thread);
  void resume(Thread& thread);
  void switch_out();
  void give_way();
  void take_step(const Schedule::Choice& choice);
  void land(const PendingLanding& landing);

  Schedule schedule_;
  Thread* current_ = nullptr;
  Process landing_ = {};  // that lands now, where no thread runs
  void* scheduler_context_ = nullptr;
  std::uint64_t slice_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t progress_steps_ = 0;
  std::uint64_t ticked_steps_ = 0;
  Thread* ticked_thread_ = nullptr;
  bool stopped_ = false;
  unsigned next_cluster_ = 0;
  std::vector<Multiprocessor> multiprocessors_;
  std::vector<Multiprocessor*> idle_multiprocessors_;
  std::vector<std::unique_ptr<Cluster>> resident_;
  std::uint64_t end_time_ = 0;
};

// The run that the calling std::thread is in.
Engine& engine();
Engine* running_engine();  // null if it is in none

// Implemented by the mechanisms. What an abandoned run leaves in flight is discarded.
void discard(const PendingLanding& landing);
void land_load(Engine& engine, void* operation);
void land_store_read(Engine& engine, void* operation);
void land_store_write(Engine& engine, void* operation);
void land_wgmma(Engine& engine, void* warpgroup);
void land_thread_copies(Engine& engine, void* operation);
void land_store_async(Engine& engine, void* operation);
void land_shared_copy(Engine& engine, void* operation);
void land_tensor_pipeline(Engine& engine, void* pipeline);
void land_tensor_access(Engine& engine, void* operation);
void land_cancel(Engine& engine, void* operation);
void leave_cluster_barrier(Engine& engine, Thread& thread);

// Reports.
std::string who(const Thread& thread);  // "multiply role (thread 7 of CTA 0)"
std::string who(const char* role, unsigned thread, unsigned cta);
std::string place_name(const Cta& cta, std::uint32_t offset);     // "input stage 2"
int place_stage(const Cta& cta, std::uint32_t offset);            // -1: none
const void* place_subject(const Cta& cta, std::uint32_t offset);  // tells findings apart
void check_exit(Engine& engine, Cta& cta);
void check_registers(Engine& engine, const Cta& cta);
void check_tensor_exit(Engine& engine, Cta& cta);
void report_deadlock(Engine& engine, std::span<const std::unique_ptr<Cluster>> clusters);

}  // namespace tw::vgpu
