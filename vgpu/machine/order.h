// Happens-before: who knows of whose accesses. The instructions that release and acquire call this;
// with checking off it does nothing.
#pragma once

#include <cstdint>

#include "vgpu/machine/cluster.h"
#include "vgpu/machine/shadow.h"

namespace tw::vgpu {

class Order {
 public:
  explicit Order(bool enabled) : enabled_(enabled) {}
  bool enabled() const { return enabled_; }

  void start(Cluster& cluster);

  void release(ReleaseClock& clock, Thread& thread);
  void acquire(Thread& thread, const ClockRef& clock);
  // What the thread releases now, and what was released before it.
  ClockRef release_after(const ClockRef& before, Thread& thread);
  ClockRef join(const ClockRef& left, const ClockRef& right) {
    return enabled_ ? joiner_.join(pool, left, right) : ClockRef();
  }
  // The same for whoever acquires it in whatever cluster: the clock knows clusters only.
  ClockRef release_to_all(const ClockRef& before, Thread& thread);
  void acquire_from_all(Thread& thread, const ClockRef& clock);
  void acquire_all(const WaitList& threads, const ClockRef& clock);
  // fence.proxy.async: the thread's generic writes so far, copies that it has waited for, and the
  // writes of others that it knows of, are visible to the async proxy: for its own accesses, and
  // for those who learn of this moment.
  void fence_async(Thread& thread);
  // The epoch of something the thread does now, distinct from what it does next.
  Epoch mark(Thread& thread) { return thread.view.epoch++; }

  Slot agent(Cluster& cluster, AgentKind kind, const void* owner, Slot& slot);
  // The agent's accesses up to this epoch are over, and the thread knows it. `memory` keeps the
  // clock that says so, because the threads of a warpgroup all learn the same.
  void learn(Thread& thread, ClockRef& memory, Slot agent, Epoch epoch);

  // The access of a thread through the generic proxy. Its site is where the running thread is; an
  // access that lands later has none, unless who issued it kept that.
  static Access generic(const Thread& thread, const char* what);
  // An access that an agent makes for one thread through the async proxy.
  static Access async(const Thread& thread, const char* what, Slot agent, Epoch epoch);

  ClockPool pool;

 private:
  ClockRef release_alone(Thread& thread);

  bool enabled_;
  ClockJoiner joiner_;
  // The threads of a warpgroup fence with the same knowledge, one after the other.
  ClockRef unfenced_, fenced_;
};

}  // namespace tw::vgpu
