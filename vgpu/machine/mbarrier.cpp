#include "vgpu/machine/mbarrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tilewright/isa/model/launch_control.h"
#include "tilewright/isa/model/shared_memory.h"
#include "vgpu/machine/mbarrier_model.h"
#include "vgpu/machine/timed_wait.h"

namespace tw::vgpu {

std::string barrier_name(const Mbarrier& barrier) {
  if (barrier.name == nullptr) {
    return fmt::format("the mbarrier at byte {} of CTA {}", barrier.offset, barrier.cta->index);
  }
  return fmt::format("{} stage {} of CTA {}", barrier.name, barrier.stage, barrier.cta->index);
}

namespace {

constexpr unsigned most_arrivals = (1u << 20) - 1;
constexpr std::int64_t most_bytes = (1 << 20) - 1;

void step_on(Engine& machine, TouchKind kind, const Mbarrier& barrier) {
  machine.step.shared(kind, barrier.cta->index, barrier.offset, 8);
}

SharedPlace aligned_place(Engine& machine, SharedPlace place, const char* instruction) {
  if (place.offset % 8 == 0) return place;
  machine.report(Checker::Alignment, -1, instruction, [&] {
    return fmt::format("The {} gives {} a barrier at byte {}; barriers are 8-byte aligned.",
                       who(machine.current()), instruction, place.offset);
  });
  machine.abandon();
}

void complete_phase(Engine& machine, Mbarrier& barrier) {
  if (barrier.copies_in_flight != 0) {
    machine.report_about(barrier.signalling_role(), Checker::TransactionBytes, barrier.stage,
                         barrier.name, [&] {
                           return fmt::format(
                               "Phase {} of {} completed with {} bytes counted, but {} more copies "
                               "that signal it are "
                               "still in flight: it was told to expect too few bytes.",
                               barrier.phase, barrier_name(barrier), barrier.expected_bytes,
                               barrier.copies_in_flight);
                         });
  }
  if (machine.timeline != nullptr) record_phase(*machine.timeline, barrier);
  ++barrier.phase;
  barrier.pending = barrier.arrivals;
  barrier.counts_bytes = barrier.arrived_bytes != 0;
  barrier.expected_bytes = barrier.arrived_bytes = 0;
  barrier.last_tally = std::exchange(barrier.tally, {});
  barrier.completed_time = std::exchange(barrier.time, 0);
  barrier.last_arrival = std::exchange(barrier.newest_arrival, {});
  machine.made_progress();
  if (machine.order.enabled()) {
    if (barrier.copies != no_slot) {
      barrier.arriving.raise(machine.order.pool, barrier.copies, barrier.copies_epoch);
    }
    ++barrier.copies_epoch;
    barrier.done = barrier.arriving.finish();
    barrier.done_in_cluster = barrier.arriving_in_cluster.finish();
    barrier.done_fenced = std::exchange(barrier.arriving_fenced, {});
  }
  machine.wake_all(barrier.waiters, barrier.completed_time);
}

void complete_phase_if_done(Engine& machine, Mbarrier& barrier) {
  if (barrier.pending != 0) return;
  if (barrier.bytes == 0) return complete_phase(machine, barrier);
  if (barrier.bytes > 0) return;
  machine.report_about(
      barrier.signalling_role(), Checker::TransactionBytes, barrier.stage, barrier.name, [&] {
        return fmt::format(
            "All {} arrivals of phase {} of {} are in, and {} bytes have landed where {} were "
            "expected: the phase can never complete.",
            barrier.arrivals, barrier.phase, barrier_name(barrier), barrier.arrived_bytes,
            barrier.expected_bytes);
      });
}

// An arrival at a peer's barrier has CTA scope (isa/ptx/threads.h says why): the peer learns which
// asynchronous accesses are over, but nothing about the thread's own.
void release_to_peer(Engine& machine, Thread& thread, Mbarrier& barrier) {
  if (!machine.order.enabled()) return;
  barrier.arriving.add_agents(machine.order.pool, thread.view, thread.cta->cluster->first_agent);
}

void publish_new_barriers(Engine& machine, Thread& thread) {
  if (thread.new_barriers.empty()) return;
  const Epoch epoch = machine.order.mark(thread);
  for (Mbarrier* barrier : thread.new_barriers) {
    step_on(machine, TouchKind::Writes, *barrier);
    barrier->fence_epoch = epoch;
    thread.fenced_barriers.push_back(barrier);
  }
  thread.new_barriers.clear();
}

// Threads that take turns by a barrier of arrivals come back to it only after its last phase was
// waited for. One that comes earlier was not counted on when the barrier was initialised.
void check_last_phase_seen(Engine& machine, const Thread& thread, const Mbarrier& barrier) {
  if (barrier.phase == barrier.observed_phase || barrier.counts_bytes) return;
  machine.report_about(thread.role, Checker::ArrivalCount, barrier.stage, barrier.name, [&] {
    return fmt::format(
        "The {} arrives at {}: phase {} has completed with the {} arrivals that it was told to "
        "expect, nobody has waited for it yet, and here is one more.",
        who(thread), barrier_name(barrier), barrier.phase - 1, barrier.arrivals);
  });
}

// Reports an arrival for which there is no room in the phase.
bool has_room(Engine& machine, const Thread& thread, const Mbarrier& barrier) {
  if (barrier.pending != 0) return true;
  machine.report_about(thread.role, Checker::ArrivalCount, barrier.stage, barrier.name, [&] {
    return fmt::format(
        "The {} arrives at {}, but all {} arrivals of phase {} are in already; the phase still "
        "waits for {} bytes.",
        who(thread), barrier_name(barrier), barrier.arrivals, barrier.phase, barrier.bytes);
  });
  return false;
}

void expect_bytes(Engine& machine, const Thread& thread, Mbarrier& barrier, unsigned bytes) {
  barrier.bytes += bytes;
  if (barrier.bytes > most_bytes) {
    machine.report(Checker::TransactionBytes, barrier.stage, barrier.name, [&] {
      return fmt::format("The {} lets {} expect {} bytes in one phase; it can count to {}.",
                         who(thread), barrier_name(barrier), barrier.bytes, most_bytes);
    });
  }
  barrier.expected_bytes += bytes;
}

enum class Scope { Cta, Cluster, RelaxedCluster };

void arrive(Engine& machine, Thread& thread, Mbarrier& barrier, unsigned expected_bytes,
            Scope scope = Scope::Cta) {
  step_on(machine, TouchKind::Writes, barrier);
  if (!has_room(machine, thread, barrier)) return;
  check_last_phase_seen(machine, thread, barrier);
  expect_bytes(machine, thread, barrier, expected_bytes);
  barrier.tally.add(thread.role);
  if (scope == Scope::RelaxedCluster) {
    barrier.arriving_fenced = machine.order.join(barrier.arriving_fenced, thread.fenced_release);
  }
  if (barrier.cta == thread.cta) {
    if (scope != Scope::RelaxedCluster) machine.order.release(barrier.arriving, thread);
  } else {
    barrier.remote_phases = barrier.phase + 1;
    barrier.remote_cluster_phase = thread.cta->cluster->barrier.phase;
    if (scope != Scope::RelaxedCluster) release_to_peer(machine, thread, barrier);
  }
  if (scope == Scope::Cluster) machine.order.release(barrier.arriving_in_cluster, thread);
  barrier.time = std::max(barrier.time, thread.time);
  barrier.newest_arrival = {&thread, thread.step, thread.time};
  --barrier.pending;
  complete_phase_if_done(machine, barrier);
}

}  // namespace

namespace {

// Copies and peers see an init only through fence.mbarrier_init; everybody else also by any
// barrier.
void check_init_visible(Engine& machine, const Thread& thread, const Mbarrier& barrier,
                        BarrierUse use, const char* instruction) {
  if (!machine.order.enabled()) return;
  const bool needs_fence =
      (use == BarrierUse::Copies && !machine.options.relaxed) || barrier.cta != thread.cta;
  const bool fence_missing = needs_fence && barrier.fence_epoch == 0;
  const Epoch epoch = needs_fence ? barrier.fence_epoch : barrier.init_epoch;
  const Clock* known = thread.view.known.get();
  const bool carried_by_cluster =
      barrier.published != Mbarrier::never && thread.cluster_waited > barrier.published;
  const bool ordered = thread.view.self == barrier.init_slot || carried_by_cluster ||
                       (known != nullptr && known->covers(barrier.init_slot, epoch));
  if (ordered && !fence_missing) return;
  machine.report(Checker::BarrierLife, barrier.stage, barrier.name, [&] {
    return fmt::format("The {} uses {} in {}, but cannot know that it is initialised: {}.",
                       who(thread), barrier_name(barrier), instruction,
                       fence_missing ? "fence.mbarrier_init is missing after the init"
                                     : "no barrier orders the init before this use");
  });
}

}  // namespace

Mbarrier& usable_mbarrier(Engine& machine, SharedPlace place, BarrierUse use,
                          const char* instruction) {
  place = aligned_place(machine, place, instruction);
  Mbarrier& barrier = place.cta->mbarriers.find_or_create(*place.cta, place.offset);
  if (place.cta != machine.current().cta) {
    machine.step.exit_of(TouchKind::Reads, place.cta->cluster->index());
  }
  if (barrier.initialised && !place.cta->exited()) {
    check_init_visible(machine, machine.current(), barrier, use, instruction);
    return barrier;
  }
  machine.report(Checker::BarrierLife, barrier.stage, barrier.name, [&] {
    return fmt::format("The {} uses {} in {}, but {}.", who(machine.current()),
                       barrier_name(barrier), instruction,
                       barrier.initialised ? "that CTA has exited" : "it was never initialised");
  });
  machine.abandon();
}

void arrive_for_copies(Engine& machine, const Thread& thread, Mbarrier& barrier, Epoch epoch,
                       std::uint64_t time) {
  step_on(machine, TouchKind::Writes, barrier);
  if (!has_room(machine, thread, barrier)) return;
  barrier.tally.add(thread.role);
  if (machine.order.enabled() && thread.copy_agent != no_slot) {
    barrier.arriving.raise(machine.order.pool, thread.copy_agent, epoch);
  }
  barrier.copied_phases = barrier.phase + 1;
  barrier.time = std::max(barrier.time, time);
  barrier.newest_arrival = {&thread, thread.step, time};
  --barrier.pending;
  complete_phase_if_done(machine, barrier);
}

void arrive_for_products(Engine& machine, const TensorPipeline& pipeline, Mbarrier& barrier,
                         const ThreadView& view, std::uint64_t time) {
  const Thread& thread = *pipeline.thread;
  step_on(machine, TouchKind::Writes, barrier);
  if (barrier.cta->exited()) {
    machine.report_about(thread.role, Checker::BarrierLife, barrier.stage, barrier.name, [&] {
      return fmt::format("A tcgen05.commit of the {} arrives at {}, but that CTA has exited.",
                         who(thread), barrier_name(barrier));
    });
    return;
  }
  if (!has_room(machine, thread, barrier)) return;
  check_last_phase_seen(machine, thread, barrier);
  barrier.tally.add(thread.role);
  if (machine.order.enabled() && pipeline.done != no_slot) {
    barrier.arriving.raise(machine.order.pool, pipeline.done, pipeline.landed);
    barrier.arriving.add_agents(machine.order.pool, view, thread.cta->cluster->first_agent);
  }
  if (barrier.cta != thread.cta) {
    barrier.remote_phases = barrier.phase + 1;
    barrier.remote_cluster_phase = thread.cta->cluster->barrier.phase;
  }
  barrier.time = std::max(barrier.time, time);
  barrier.newest_arrival = {&thread, thread.step, time};
  --barrier.pending;
  complete_phase_if_done(machine, barrier);
}

void complete_transaction(Engine& machine, Mbarrier& barrier, std::uint32_t bytes,
                          std::uint64_t time) {
  step_on(machine, TouchKind::Writes, barrier);
  --barrier.copies_in_flight;
  barrier.bytes -= bytes;
  barrier.arrived_bytes += bytes;
  barrier.time = std::max(barrier.time, time);
  barrier.newest_arrival = {};
  complete_phase_if_done(machine, barrier);
}

}  // namespace tw::vgpu

namespace tw::model {

using namespace vgpu;

void mbarrier_init(SharedAddress address, unsigned arrivals) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  machine.step.tells();
  const auto place =
      aligned_place(machine, machine.resolve_own(address, 8, "mbarrier.init"), "mbarrier.init");
  Mbarrier& barrier = place.cta->mbarriers.find_or_create(*place.cta, place.offset);
  step_on(machine, TouchKind::Writes, barrier);
  if (arrivals == 0 || arrivals > most_arrivals) {
    machine.report(Checker::ArrivalCount, barrier.stage, barrier.name, [&] {
      return fmt::format("The {} initialises {} with {} arrivals; 1 to {} are possible.",
                         who(thread), barrier_name(barrier), arrivals, most_arrivals);
    });
    machine.abandon();
  }
  if (barrier.initialised && (barrier.busy() || barrier.waiters.first != nullptr)) {
    machine.report(Checker::BarrierLife, barrier.stage, barrier.name, [&] {
      return fmt::format("The {} initialises {} again while it is in use.", who(thread),
                         barrier_name(barrier));
    });
  }
  barrier.initialised = true;
  barrier.arrivals = barrier.pending = arrivals;
  barrier.bytes = 0;
  barrier.phase = barrier.observed_phase = 0;
  barrier.remote_phases = barrier.copied_phases = 0;
  barrier.counts_bytes = false;
  barrier.newest_arrival = barrier.last_arrival = {};
  barrier.init_slot = thread.view.self;
  barrier.init_epoch = machine.order.mark(thread);
  barrier.fence_epoch = 0;
  barrier.published = Mbarrier::never;
  barrier.done = barrier.done_in_cluster = barrier.done_fenced = {};
  thread.new_barriers.push_back(&barrier);
  if (place.cta->shadow != nullptr) place.cta->shadow->mark_barrier(place.offset, 8);
}

void fence_mbarrier_init() {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  machine.step.tells();
  publish_new_barriers(machine, thread);
}

namespace {

// At a barrier of any CTA of the cluster.
void arrive_in_cluster(SharedAddress address, unsigned bytes, Scope scope,
                       const char* instruction) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  machine.step.tells();
  const auto place = machine.resolve(address, 8, instruction);
  arrive(machine, thread, usable_mbarrier(machine, place, BarrierUse::Threads, instruction), bytes,
         scope);
}

}  // namespace

void mbarrier_arrive(SharedAddress address) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  machine.step.tells();
  const auto place = machine.resolve_own(address, 8, "mbarrier.arrive");
  arrive(machine, thread, usable_mbarrier(machine, place, BarrierUse::Threads, "mbarrier.arrive"),
         0);
}

void mbarrier_arrive_cluster(SharedAddress address) {
  arrive_in_cluster(address, 0, Scope::Cta, "mbarrier.arrive.cluster");
}

void mbarrier_arrive_expect_tx(SharedAddress address, unsigned bytes) {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  machine.step.tells();
  const auto place = machine.resolve_own(address, 8, "mbarrier.arrive.expect_tx");
  arrive(machine, thread,
         usable_mbarrier(machine, place, BarrierUse::Threads, "mbarrier.arrive.expect_tx"), bytes);
}

void mbarrier_arrive_release_cluster(SharedAddress address) {
  arrive_in_cluster(address, 0, Scope::Cluster, "mbarrier.arrive.release.cluster");
}

void mbarrier_arrive_expect_tx_cluster(SharedAddress address, unsigned bytes) {
  arrive_in_cluster(address, bytes, Scope::Cluster, "mbarrier.arrive.expect_tx.release.cluster");
}

void mbarrier_arrive_relaxed_cluster(SharedAddress address) {
  arrive_in_cluster(address, 0, Scope::RelaxedCluster, "mbarrier.arrive.relaxed.cluster");
}

void mbarrier_arrive_expect_tx_relaxed_cluster(SharedAddress address, unsigned bytes) {
  arrive_in_cluster(address, bytes, Scope::RelaxedCluster,
                    "mbarrier.arrive.expect_tx.relaxed.cluster");
}

void mbarrier_expect_tx(SharedAddress address, unsigned bytes) {
  constexpr const char* instruction = "mbarrier.expect_tx";
  Engine& machine = engine();
  machine.enter();
  machine.step.tells();
  const auto place = machine.resolve(address, 8, instruction);
  Mbarrier& barrier = usable_mbarrier(machine, place, BarrierUse::Threads, instruction);
  step_on(machine, TouchKind::Writes, barrier);
  expect_bytes(machine, machine.current(), barrier, bytes);
  complete_phase_if_done(machine, barrier);
}

std::uint64_t mbarrier_arrive_counted(SharedAddress address, unsigned count) {
  constexpr const char* instruction = "mbarrier.arrive";
  Engine& machine = engine();
  Thread& thread = machine.enter();
  machine.step.tells();
  const auto place = machine.resolve(address, 8, instruction);
  Mbarrier& barrier = usable_mbarrier(machine, place, BarrierUse::Threads, instruction);
  const std::uint64_t phase = barrier.phase;
  for (unsigned i = 0; i < count; ++i) arrive(machine, thread, barrier, 0);
  return phase;
}

void mbarrier_arrive_expect_tx_peer(SharedAddress address, unsigned bytes) {
  constexpr const char* instruction = "mbarrier.arrive.expect_tx";
  Engine& machine = engine();
  Thread& thread = machine.enter();
  machine.step.tells();
  const auto place = machine.resolve(address, 8, instruction);
  arrive(machine, thread, usable_mbarrier(machine, place, BarrierUse::Threads, instruction), bytes);
}

void mbarrier_invalidate(SharedAddress address) {
  constexpr const char* instruction = "mbarrier.inval";
  Engine& machine = engine();
  const Thread& thread = machine.enter();
  machine.step.tells();
  const auto place = machine.resolve_own(address, 8, instruction);
  Mbarrier& barrier = usable_mbarrier(machine, place, BarrierUse::Threads, instruction);
  step_on(machine, TouchKind::Writes, barrier);
  if (barrier.busy() || barrier.waiters.first != nullptr) {
    machine.report(Checker::BarrierLife, barrier.stage, barrier.name, [&] {
      return fmt::format("The {} ends {} while it is in use.", who(thread), barrier_name(barrier));
    });
  }
  barrier.initialised = false;
  if (place.cta->shadow != nullptr) place.cta->shadow->forget(place.offset, 8, false);
}

namespace {

// Where steps are chosen one by one, the wait is a step that is taken when it ends. A thread that
// looked too late goes on looking, as it would on a GPU.
Thread& enter_when_over(Engine& machine, SharedAddress address, unsigned parity,
                        const char* instruction) {
  if (!machine.step.is_on()) return machine.enter();
  const auto place =
      aligned_place(machine, machine.resolve_own(address, 8, instruction), instruction);
  const Mbarrier& barrier = place.cta->mbarriers.find_or_create(*place.cta, place.offset);
  const Touch awaits = {TouchSpace::Shared, TouchKind::Reads, place.cta->index, place.offset,
                        place.offset + 8u};
  return machine.enter_when({WaitKind::Mbarrier, &barrier, parity & 1}, awaits, [&barrier, parity] {
    return !barrier.initialised || (barrier.phase & 1) != (parity & 1);
  });
}

// Sleeps until the phase has completed, and learns what was released with the scope of the CTA; or
// until the time limit of the instruction, and learns nothing: then null.
Mbarrier* wait_for_phase(SharedAddress address, unsigned parity, bool may_sleep = true) {
  const char* const instruction = may_sleep ? "mbarrier.try_wait" : "mbarrier.test_wait";
  Engine& machine = engine();
  Thread& thread =
      may_sleep ? enter_when_over(machine, address, parity, instruction) : machine.enter();
  machine.step.tells();
  const auto place = machine.resolve_own(address, 8, instruction);
  Mbarrier& barrier = usable_mbarrier(machine, place, BarrierUse::Threads, instruction);
  step_on(machine, TouchKind::Reads, barrier);
  const TimedWait timed(machine, barrier.name == nullptr ? "an mbarrier" : barrier.name,
                        barrier.stage);
  if ((barrier.phase & 1) == (parity & 1)) {
    if (!may_sleep || machine.wait_runs_out()) return nullptr;
    const std::uint64_t phase = barrier.phase;
    machine.sleep(barrier.waiters, {WaitKind::Mbarrier, &barrier, parity & 1});
    if (barrier.phase > phase + 1) {
      machine.report(Checker::PhaseSkipped, barrier.stage, barrier.name, [&] {
        return fmt::format(
            "The {} waited for phase {} of {}; when it looked again, phase {} was running: on a "
            "GPU it would have missed its phase.",
            who(thread), phase, barrier_name(barrier), barrier.phase);
      });
    }
  }
  machine.order.acquire(thread, barrier.done);
  thread.time = std::max(thread.time, barrier.completed_time);
  barrier.observed_phase = barrier.phase;
  thread.passed = &barrier;
  thread.let_pass = barrier.last_arrival;
  return &barrier;
}

}  // namespace

bool mbarrier_try_wait_parity(SharedAddress address, unsigned parity) {
  return wait_for_phase(address, parity) != nullptr;
}

bool mbarrier_try_wait_parity_cluster(SharedAddress address, unsigned parity) {
  const Mbarrier* const barrier = wait_for_phase(address, parity);
  if (barrier == nullptr) return false;
  Engine& machine = engine();
  machine.order.acquire(machine.current(), barrier->done_in_cluster);
  machine.current().awaited_fenced = barrier->done_fenced;
  return true;
}

bool mbarrier_test_wait_parity(SharedAddress address, unsigned parity) {
  return wait_for_phase(address, parity, false) != nullptr;
}

void fence_proxy_async() {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  machine.step.tells();
  machine.order.fence_async(thread);
  publish_new_barriers(machine, thread);
}

void fence_async_release_cluster() {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  machine.step.tells();
  machine.order.fence_async(thread);
  thread.fenced_release = machine.order.release_after({}, thread);
}

void fence_async_acquire_cluster() {
  Engine& machine = engine();
  Thread& thread = machine.enter();
  machine.step.tells();
  machine.order.acquire(thread, thread.awaited_fenced);
}

}  // namespace tw::model
