// A deadlock as a wait-for graph: who waits for what, and what that is still missing.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "vgpu/machine/engine.h"
#include "vgpu/machine/mbarrier_model.h"

namespace tw::vgpu {
namespace {

// Threads of one CTA and role that wait for the same thing.
struct Group {
  const Thread* example;
  std::vector<unsigned> threads;
};

std::string ranges(const std::vector<unsigned>& sorted) {
  std::string text;
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin + 1;
    while (end < sorted.size() && sorted[end] == sorted[end - 1] + 1) ++end;
    text += text.empty() ? "" : ", ";
    text += end - begin == 1 ? fmt::format("{}", sorted[begin])
                             : fmt::format("{}-{}", sorted[begin], sorted[end - 1]);
    begin = end;
  }
  return text;
}

std::string tally_text(const ArrivalTally& tally) {
  std::string text;
  for (unsigned i = 0; i < tally.used; ++i) {
    const auto& entry = tally.entries[i];
    text += fmt::format("{}{} from {}", i == 0 ? "" : ", ", entry.count,
                        entry.role == nullptr ? "threads without a role" : entry.role);
  }
  return text.empty() ? "none" : text;
}

std::string mbarrier_wait(const Mbarrier& barrier, std::uint64_t parity) {
  std::string text = fmt::format(
      "phase {} (parity {}) of {}: {} of {} arrivals seen ({}), {} of {} bytes", barrier.phase,
      parity, barrier_name(barrier), barrier.arrivals - barrier.pending, barrier.arrivals,
      tally_text(barrier.tally), barrier.arrived_bytes, barrier.expected_bytes);
  if (barrier.phase != 0) {
    text += fmt::format("; the phase before had {}", tally_text(barrier.last_tally));
  }
  return text;
}

std::string last_added(const Counter& counter) {
  if (counter.history.is_new()) return "where it began";
  return fmt::format("{} added last", counter.adding_role == nullptr ? "a thread without a role"
                                                                     : counter.adding_role);
}

std::string lanes_elsewhere(const Thread& thread) {
  const Warp& warp = *thread.warp;
  const auto& rendezvous = *static_cast<const Rendezvous*>(thread.wait.object);
  std::vector<unsigned> finished, away;
  for (unsigned lane = 0; lane < most_lanes; ++lane) {
    if ((warp.finished >> lane & 1) != 0) {
      finished.push_back(lane);
    } else if (((warp.lanes & ~rendezvous.arrived) >> lane & 1) != 0) {
      away.push_back(lane);
    }
  }
  std::string text;
  if (!finished.empty()) text += fmt::format("; lanes {} have returned", ranges(finished));
  if (!away.empty()) text += fmt::format("; lanes {} are elsewhere", ranges(away));
  return text;
}

std::string who_returned(const Cta& cta) {
  std::vector<unsigned> finished;
  for (const Thread& thread : cta.threads) {
    if (thread.state == ThreadState::Finished) finished.push_back(thread.index);
  }
  return finished.empty() ? "" : fmt::format("; threads {} have returned", ranges(finished));
}

std::string wait_text(Engine& machine, const Thread& thread) {
  const Wait& wait = thread.wait;
  switch (wait.kind) {
    case WaitKind::Mbarrier:
      return mbarrier_wait(*static_cast<const Mbarrier*>(wait.object), wait.detail);
    case WaitKind::NamedBarrier: {
      const auto& barrier = *static_cast<const NamedBarrier*>(wait.object);
      return fmt::format("named barrier {}: {} of {} threads arrived{}", barrier.id,
                         barrier.arrived, barrier.expected, who_returned(*thread.cta));
    }
    case WaitKind::ClusterBarrier: {
      const Cluster& cluster = *thread.cta->cluster;
      return fmt::format("the cluster barrier: {} of {} threads arrived", cluster.barrier.arrived,
                         cluster.live_threads);
    }
    case WaitKind::WarpCollective:
      return fmt::format("the other lanes of warp {} in {}{}", thread.warp->index,
                         name_of(static_cast<Collective>(wait.detail)), lanes_elsewhere(thread));
    case WaitKind::BulkGroup:
      return fmt::format("its TMA stores, {} groups allowed", wait.detail >> 1);
    case WaitKind::WgmmaGroup: {
      const auto& warpgroup = *static_cast<const Warpgroup*>(wait.object);
      return fmt::format("wgmma number {} of warpgroup {}, which {} of 128 threads have issued",
                         warpgroup.landed_ops, warpgroup.index,
                         warpgroup.ops.empty() ? 0 : warpgroup.ops.front()->issued_threads);
    }
    case WaitKind::CopyGroup: return "its cp.async copies";
    case WaitKind::Counter: {
      const auto& counter = *static_cast<const Counter*>(wait.object);
      return fmt::format("{} to reach {}: it is at {}, {}", counter_name(counter), wait.detail,
                         counter.value, last_added(counter));
    }
    case WaitKind::GlobalCounter: {
      const auto& counter = *static_cast<const GlobalCounter*>(wait.object);
      return fmt::format("{} to reach {}: it is at {}", global_counter_name(machine, counter),
                         wait.detail, *counter.place);
    }
    case WaitKind::GlobalChange: {
      const auto& counter = *static_cast<const GlobalCounter*>(wait.object);
      return fmt::format("{} to change: it is at {}", global_counter_name(machine, counter),
                         *counter.place);
    }
    case WaitKind::TensorAllocation:
      return thread.cta->tensor->cta_group == 2
                 ? "tensor memory, or the warp of the peer CTA that must ask with it"
                 : "tensor memory to become free";
    case WaitKind::TensorAccess: return "its accesses to tensor memory";
    case WaitKind::WaveLoads: return "loads to LDS of its wave";
    case WaitKind::None: break;
  }
  return "nothing";
}

using GroupKey = std::tuple<unsigned, std::string, WaitKind, const void*, std::uint64_t>;

std::map<GroupKey, Group> sleeping_groups(std::span<const std::unique_ptr<Cluster>> clusters) {
  std::map<GroupKey, Group> groups;
  for (const auto& cluster : clusters) {
    for (const auto& cta : cluster->ctas) {
      for (const Thread& thread : cta->threads) {
        if (thread.state != ThreadState::Sleeping) continue;
        const GroupKey key{cta->index, thread.role == nullptr ? "" : thread.role, thread.wait.kind,
                           thread.wait.object, thread.wait.detail};
        Group& group = groups.try_emplace(key, Group{&thread, {}}).first->second;
        group.threads.push_back(thread.index);
      }
    }
  }
  return groups;
}

bool is_asleep(const std::map<GroupKey, Group>& groups, const char* role) {
  return std::any_of(groups.begin(), groups.end(),
                     [&](const auto& entry) { return entry.second.example->role == role; });
}

unsigned suspicion_of_counter(const std::map<GroupKey, Group>& groups, const Counter& awaited) {
  bool signalled = false;
  for (const auto& [offset, counter] : awaited.cta->counters) {
    const bool alike =
        &counter == &awaited || (awaited.name != nullptr && counter.name == awaited.name);
    if (!alike || counter.adding_role == nullptr) continue;
    if (is_asleep(groups, counter.adding_role)) return 0;
    signalled = true;
  }
  return signalled ? 1 : 2;
}

// How likely it is that this wait is where the deadlock begins, rather than that it follows from
// another one: nobody ever signals a barrier of this name; those who do are gone; they wait too.
unsigned suspicion(const std::map<GroupKey, Group>& groups, const Thread& thread) {
  if (thread.wait.kind == WaitKind::GlobalCounter || thread.wait.kind == WaitKind::GlobalChange) {
    return 1;  // for another CTA, mostly
  }
  if (thread.wait.kind == WaitKind::Counter) {
    return suspicion_of_counter(groups, *static_cast<const Counter*>(thread.wait.object));
  }
  if (thread.wait.kind != WaitKind::Mbarrier) return 0;
  const auto& awaited = *static_cast<const Mbarrier*>(thread.wait.object);
  bool signalled = false;
  for (const Mbarrier& barrier : awaited.cta->mbarriers.all()) {
    const bool alike =
        &barrier == &awaited || (awaited.name != nullptr && barrier.name == awaited.name);
    if (!alike || barrier.signalling_role() == nullptr) continue;
    if (is_asleep(groups, barrier.signalling_role())) return 0;
    signalled = true;
  }
  return signalled ? 1 : 2;
}

// The wait that the report is about.
const Thread& most_suspicious(const std::map<GroupKey, Group>& groups) {
  const Thread* found = groups.begin()->second.example;
  for (const auto& [key, group] : groups) {
    if (suspicion(groups, *group.example) > suspicion(groups, *found)) found = group.example;
  }
  return *found;
}

// What a barrier that never completed says about the bug, beside the deadlock itself.
void report_barrier(Engine& machine, const Thread& thread) {
  if (thread.wait.kind != WaitKind::Mbarrier) return;
  const auto& barrier = *static_cast<const Mbarrier*>(thread.wait.object);
  const unsigned seen = barrier.arrivals - barrier.pending;
  if (barrier.pending == 0 && barrier.bytes > 0) {
    machine.report_about(
        barrier.signalling_role(), Checker::TransactionBytes, barrier.stage, barrier.name, [&] {
          return fmt::format("{} expects {} bytes in phase {} and only {} were ever copied.",
                             barrier_name(barrier), barrier.expected_bytes, barrier.phase,
                             barrier.arrived_bytes);
        });
  } else if (seen != 0 && barrier.pending != 0) {
    machine.report_about(thread.role, Checker::ArrivalCount, barrier.stage, barrier.name, [&] {
      return fmt::format("{} expects {} arrivals in phase {} and only {} ever came: {}.",
                         barrier_name(barrier), barrier.arrivals, barrier.phase, seen,
                         tally_text(barrier.tally));
    });
  }
}

}  // namespace

void report_deadlock(Engine& machine, std::span<const std::unique_ptr<Cluster>> clusters) {
  constexpr std::size_t most_lines = 24;
  const auto groups = sleeping_groups(clusters);
  if (groups.empty()) return;
  std::string text = "Deadlock: nothing can run and nothing is left to land.";
  std::size_t lines = 0;
  for (const auto& [key, group] : groups) {
    const Thread& thread = *group.example;
    if (++lines > most_lines) continue;
    text += fmt::format("\n  {} in CTA {} (threads {}) waits for {}.",
                        thread.role == nullptr ? "no role" : thread.role, thread.cta->index,
                        ranges(group.threads), wait_text(machine, thread));
  }
  if (lines > most_lines) text += fmt::format("\n  and {} more groups.", lines - most_lines);
  for (const auto& [key, group] : groups) report_barrier(machine, *group.example);
  const Thread& first = most_suspicious(groups);
  int stage = -1;
  if (first.wait.kind == WaitKind::Mbarrier) {
    stage = static_cast<const Mbarrier*>(first.wait.object)->stage;
  } else if (first.wait.kind == WaitKind::Counter) {
    stage = static_cast<const Counter*>(first.wait.object)->stage;
  }
  machine.report_about(first.role, Checker::Deadlock, stage, nullptr, [&] { return text; });
}

}  // namespace tw::vgpu
