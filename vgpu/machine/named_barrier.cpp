// Named barriers and the cluster barrier.
#include "vgpu/machine/named_barrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "tilewright/isa/model/shared_memory.h"
#include "vgpu/machine/engine.h"
#include "vgpu/machine/timed_wait.h"

namespace tw::vgpu {
namespace {

// barrier.sync.aligned is of whole warps, and hardware counts on lanes that have returned. Known
// where all have come to wait; `last` is the one who need not.
void check_whole_warps(Engine& machine, const Thread& last, const NamedBarrier& barrier) {
  std::array<LaneMask, 1024 / warp_lanes> met = {};
  met[last.warp->index] = lane_bit(last.lane);
  unsigned count = 1;
  for (const Thread* thread = barrier.waiters.first; thread != nullptr;
       thread = thread->next_waiter, ++count) {
    met[thread->warp->index] |= lane_bit(thread->lane);
  }
  if (count != barrier.expected) return;
  for (const Warp& warp : last.cta->warps) {
    const LaneMask lanes = met[warp.index];
    if (lanes == 0 || warp.finished == 0) continue;
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const Thread& first = last.cta->threads[warp.first_thread + lane];
    machine.report_about(first.role, Checker::Divergence, -1, "barrier", [&] {
      return fmt::format(
          "The {} comes to named barrier {} with {} of the {} lanes of its warp, and others of "
          "them "
          "have returned: all must execute it.",
          who(first), barrier.id, std::popcount(lanes), std::popcount(warp.lanes));
    });
  }
}

// Threads that reduce at a barrier meet only such.
void check_all_reduce(Engine& machine, const Thread& last, const NamedBarrier& barrier) {
  if (barrier.reducing == 0 || barrier.reducing == barrier.expected) return;
  machine.report(Checker::Divergence, -1, "barrier.red", [&] {
    return fmt::format(
        "The {} is the last of {} threads at named barrier {}, of which {} execute barrier.red and "
        "the others barrier.sync or barrier.arrive.",
        who(last), barrier.expected, barrier.id, barrier.reducing);
  });
}

// A barrier of all threads of the CTA takes each of them once, in whatever order.
void step_on(Engine& machine, const Thread& thread, unsigned id, unsigned threads, bool waits) {
  const bool is_of_all = waits && threads == thread.cta->threads.size();
  machine.step.tells();
  machine.step.named_barrier(is_of_all ? TouchKind::Adds : TouchKind::Writes, thread.cta->index,
                             id);
}

// Counts the running thread in; true if it was the last one.
bool arrive(Engine& machine, Thread& thread, NamedBarrier& barrier, unsigned threads,
            bool acquires) {
  if (barrier.arrived != 0 && barrier.expected != threads) {
    machine.report(Checker::ArrivalCount, -1, &barrier, [&] {
      return fmt::format(
          "The {} comes to named barrier {} expecting {} threads, but those who wait there expect "
          "{}.",
          who(thread), barrier.id, threads, barrier.expected);
    });
  }
  barrier.expected = threads;
  barrier.time = std::max(barrier.time, thread.time);
  machine.order.release(barrier.arriving, thread);
  if (++barrier.arrived < threads) return false;
  barrier.arrived = 0;
  check_all_reduce(machine, thread, barrier);
  barrier.reducing = 0;
  thread.votes = std::exchange(barrier.votes, 0);
  for (Thread* other = barrier.waiters.first; other != nullptr; other = other->next_waiter) {
    other->votes = thread.votes;
  }
  if (acquires && machine.order.enabled()) check_whole_warps(machine, thread, barrier);
  thread.time = barrier.time;
  machine.made_progress();
  const ClockRef done = barrier.arriving.finish();
  machine.order.acquire_all(barrier.waiters, done);
  if (acquires) machine.order.acquire(thread, done);
  machine.wake_all(barrier.waiters, std::exchange(barrier.time, 0));
  return true;
}

NamedBarrier& named_barrier(Engine& machine, Thread& thread, unsigned id, unsigned threads) {
  const Cta& cta = *thread.cta;
  if (id >= named_barrier_count) {
    machine.report(Checker::Bounds, -1, "barrier", [&] {
      return fmt::format("The {} names barrier {}; there are {}.", who(thread), id,
                         named_barrier_count);
    });
    machine.abandon();
  }
  if (threads == 0 || threads % machine.launch.lanes != 0 || threads > cta.threads.size()) {
    machine.report(Checker::ArrivalCount, -1, &cta.named_barriers[id], [&] {
      return fmt::format(
          "The {} uses named barrier {} with {} threads; it takes a multiple of {} that the CTA's "
          "{} threads can bring.",
          who(thread), id, threads, machine.launch.lanes, cta.threads.size());
    });
  }
  return thread.cta->named_barriers[id];
}

void complete_cluster_barrier(Engine& machine, Cluster& cluster) {
  ClusterBarrier& barrier = cluster.barrier;
  barrier.arrived = 0;
  ++barrier.phase;
  barrier.done = barrier.arriving.finish();
  barrier.completed_time = std::exchange(barrier.time, 0);
  machine.made_progress();
  machine.wake_all(barrier.waiters, barrier.completed_time);
}

}  // namespace

// Threads that have returned are not waited for, whether they had arrived or not.
void leave_cluster_barrier(Engine& machine, Thread& thread) {
  Cluster& cluster = *thread.cta->cluster;
  if (thread.cluster_arrived && thread.cluster_phase == cluster.barrier.phase) {
    --cluster.barrier.arrived;
  }
  if (cluster.barrier.arrived != 0 && cluster.barrier.arrived == cluster.live_threads) {
    complete_cluster_barrier(machine, cluster);
  }
}

}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

void barrier_sync(unsigned id, unsigned threads) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  thread.reads.stored_at = LaneReads::nowhere;  // CDNA's fences wait
  NamedBarrier& barrier = named_barrier(machine, thread, id, threads);
  step_on(machine, thread, id, threads, true);
  const TimedWait timed(machine, "barrier", static_cast<int>(id));
  if (!arrive(machine, thread, barrier, threads, true)) {
    machine.sleep(barrier.waiters, {WaitKind::NamedBarrier, &barrier, id});
  }
}

unsigned barrier_reduce(unsigned id, unsigned threads, bool vote) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  NamedBarrier& barrier = named_barrier(machine, thread, id, threads);
  const TimedWait timed(machine, "barrier", static_cast<int>(id));
  ++barrier.reducing;
  barrier.votes += vote ? 1 : 0;
  if (!arrive(machine, thread, barrier, threads, true)) {
    machine.sleep(barrier.waiters, {WaitKind::NamedBarrier, &barrier, id});
  }
  return thread.votes;
}

void barrier_arrive(unsigned id, unsigned threads) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  NamedBarrier& barrier = named_barrier(machine, thread, id, threads);
  step_on(machine, thread, id, threads, false);
  arrive(machine, thread, barrier, threads, false);
}

void cluster_arrive() {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  Cluster& cluster = *thread.cta->cluster;
  if (thread.cluster_arrived) {
    machine.report(Checker::ArrivalCount, -1, &cluster.barrier, [&] {
      return fmt::format("The {} arrives twice at the cluster barrier without a wait between.",
                         who(thread));
    });
    machine.abandon();
  }
  thread.cluster_arrived = true;
  thread.cluster_phase = cluster.barrier.phase;
  for (Mbarrier* barrier : thread.fenced_barriers) barrier->published = cluster.barrier.phase;
  thread.fenced_barriers.clear();
  cluster.barrier.time = std::max(cluster.barrier.time, thread.time);
  if (++cluster.barrier.arrived == cluster.live_threads) complete_cluster_barrier(machine, cluster);
}

void cluster_arrive_release() {
  Engine& machine = engine();
  Thread& thread = machine.current();
  machine.order.release(thread.cta->cluster->barrier.arriving, thread);
  cluster_arrive();
}

void cluster_wait() {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  ClusterBarrier& barrier = thread.cta->cluster->barrier;
  if (!thread.cluster_arrived) {
    machine.report(Checker::ArrivalCount, -1, &barrier, [&] {
      return fmt::format("The {} waits at the cluster barrier without having arrived.",
                         who(thread));
    });
    machine.abandon();
  }
  thread.cluster_arrived = false;
  const TimedWait timed(machine, "the cluster");
  if (barrier.phase == thread.cluster_phase) {
    machine.sleep(barrier.waiters, {WaitKind::ClusterBarrier, &barrier, 0});
  }
  machine.order.acquire(thread, barrier.done);
  thread.cluster_waited = thread.cluster_phase + 1;
  thread.time = std::max(thread.time, barrier.completed_time);
}

}  // namespace tw::model
