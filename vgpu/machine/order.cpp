#include "vgpu/machine/order.h"

#include "vgpu/machine/engine.h"

namespace tw::vgpu {

void Order::start(Cluster& cluster) {
  if (!enabled_) return;
  const auto threads = cluster.ctas[0]->threads.size();
  const auto first_agent = static_cast<Slot>(cluster.ctas.size() * threads);
  cluster.first_agent = first_agent;
  for (auto& cta : cluster.ctas) {
    cta->shadow = std::make_unique<Shadow>(*cta, cta->shared_bytes);
    for (Thread& thread : cta->threads) {
      thread.view.self = static_cast<Slot>(cta->rank * threads + thread.index);
    }
  }
}

void Order::release(ReleaseClock& clock, Thread& thread) {
  if (enabled_) clock.add(pool, thread.view);
}

void Order::acquire(Thread& thread, const ClockRef& clock) {
  if (enabled_) thread.view.known = joiner_.join(pool, thread.view.known, clock);
}

ClockRef Order::release_after(const ClockRef& before, Thread& thread) {
  if (!enabled_) return {};
  return joiner_.join(pool, before, release_alone(thread));
}

ClockRef Order::release_alone(Thread& thread) {
  ReleaseClock clock;
  clock.add(pool, thread.view);
  return clock.finish();
}

ClockRef Order::release_to_all(const ClockRef& before, Thread& thread) {
  if (!enabled_) return {};
  const ClockRef own = release_alone(thread);
  ClockRef result(pool.take());
  result.edit()->others = std::exchange(own.edit()->others, {});
  result.edit()->raise_other(thread.cta->cluster->index(), own);
  if (before) result.edit()->join(*before.get());
  return result;
}

void Order::acquire_from_all(Thread& thread, const ClockRef& clock) {
  if (!enabled_ || !clock) return;
  ClockRef news(pool.take());
  for (const OtherCluster& known : clock->others) {
    if (known.cluster == thread.cta->cluster->index()) {
      news.edit()->join(*known.clock.get());
    } else {
      news.edit()->raise_other(known.cluster, known.clock);
    }
  }
  acquire(thread, news);
}

void Order::acquire_all(const WaitList& threads, const ClockRef& clock) {
  if (!enabled_) return;
  for (Thread* thread = threads.first; thread != nullptr; thread = thread->next_waiter) {
    acquire(*thread, clock);
  }
}

void Order::fence_async(Thread& thread) {
  thread.view.visible = thread.view.epoch++;
  if (!enabled_) return;
  const Epoch copied = thread.copies.known_done();
  if (thread.copy_agent != no_slot && copied != 0) {
    ClockRef own(pool.take());
    own.edit()->raise(thread.copy_agent, copied);
    acquire(thread, own);
  }
  const ClockRef known = thread.view.known;
  if (!known) return;
  if (!(known == unfenced_)) {
    unfenced_ = known;
    fenced_ = ClockRef(pool.take());
    fenced_.edit()->visible = known->happened;
    fenced_ = joiner_.join(pool, known, fenced_);
  }
  thread.view.known = fenced_;
}

Slot Order::agent(Cluster& cluster, AgentKind kind, const void* owner, Slot& slot) {
  if (slot == no_slot) {
    slot = static_cast<Slot>(cluster.first_agent + cluster.agents.size());
    cluster.agents.push_back({kind, owner});
  }
  return slot;
}

void Order::learn(Thread& thread, ClockRef& memory, Slot agent, Epoch epoch) {
  if (!enabled_) return;
  if (!memory || memory->happened[agent] != epoch) {
    memory = ClockRef(pool.take());
    memory.edit()->raise(agent, epoch);
  }
  acquire(thread, memory);
}

Access Order::generic(const Thread& thread, const char* what) {
  Access access{};
  access.thread = &thread;
  access.what = what;
  access.slot = access.self = thread.view.self;
  access.epoch = thread.view.epoch;
  access.known = thread.view.known.get();
  access.self_visible = thread.view.visible;
  access.site = engine().site_of(thread);
  return access;
}

Access Order::async(const Thread& thread, const char* what, Slot agent, Epoch epoch) {
  Access access = generic(thread, what);
  access.slot = agent;
  access.epoch = epoch;
  access.async = true;
  return access;
}

}  // namespace tw::vgpu
