// What an unordered access means, and how to say it.
#include <fmt/format.h>

#include "vgpu/machine/engine.h"
#include "vgpu/machine/mbarrier_model.h"

namespace tw::vgpu {
namespace {

const Agent* agent_of(const Cluster& cluster, Slot slot) {
  return slot < cluster.first_agent ? nullptr : &cluster.agents[slot - cluster.first_agent];
}

std::string first_lane(const void* owner) {
  const auto& warp = *static_cast<const Warp*>(owner);
  return who(warp.cta->threads[warp.first_thread]);
}

std::string actor(const Cluster& cluster, Slot slot) {
  const Agent* agent = agent_of(cluster, slot);
  if (agent == nullptr) {
    const std::size_t threads = cluster.ctas[0]->threads.size();
    return "the " + who(cluster.ctas[slot / threads]->threads[slot % threads]);
  }
  switch (agent->kind) {
    case AgentKind::Copies:
      return "copies that signal " + barrier_name(*static_cast<const Mbarrier*>(agent->owner));
    case AgentKind::Stores:
    case AgentKind::StoreWrites:
      return "a TMA store of the " + who(*static_cast<const Thread*>(agent->owner));
    case AgentKind::ThreadCopies:
      return "cp.async copies of the " + who(*static_cast<const Thread*>(agent->owner));
    case AgentKind::WaveLoads: return "loads to LDS of the " + first_lane(agent->owner);
    case AgentKind::WaveReads: return "reads in flight of the " + first_lane(agent->owner);
    case AgentKind::TensorProducts:
    case AgentKind::TensorNews:
      return "tcgen05 products of the " + who(*static_cast<const Thread*>(agent->owner));
    case AgentKind::GridWaits: return "nobody";  // it touches nothing
    case AgentKind::Products: break;
  }
  const auto& warpgroup = *static_cast<const Warpgroup*>(agent->owner);
  return "wgmma of the " + who(warpgroup.cta->threads[warpgroup.index * warpgroup_threads]);
}

bool is_copy(const Cluster& cluster, Slot slot) {
  const Agent* agent = agent_of(cluster, slot);
  return agent != nullptr &&
         (agent->kind == AgentKind::Copies || agent->kind == AgentKind::ThreadCopies ||
          agent->kind == AgentKind::WaveLoads);
}

// The write came first, but through the other proxy and without a fence.
bool lacks_only_fence(const Cta& cta, const Access& access, const AccessRecord& write) {
  return access.async && is_generic_writer(cta, write.slot) && access.follows_read(write);
}

Checker classify(const Cta& cta, const Access& access, const Conflict& conflict) {
  const Cluster& cluster = *cta.cluster;
  const AccessRecord& prior = conflict.prior;
  const bool is_write =
      conflict.kind == Conflict::ReadAfterWrite || conflict.kind == Conflict::WriteAfterWrite;
  const bool needs_fence =
      is_write || (conflict.kind == Conflict::WriteAfterRead && access.fenced_reads);
  if (needs_fence && lacks_only_fence(cta, access, prior)) return Checker::MissingProxyFence;
  switch (conflict.kind) {
    case Conflict::ReadOfNothing: return Checker::Uninitialised;
    case Conflict::BarrierTouched: return Checker::BarrierLife;
    case Conflict::WriteAfterRead: return Checker::OverwriteWhileRead;
    case Conflict::ReadAfterWrite:
      if (is_copy(cluster, prior.slot)) return Checker::ReadBeforeFull;
      break;
    case Conflict::WriteAfterWrite:
      // Bytes that no thread has waited for have readers who are still to come.
      if (is_copy(cluster, prior.slot)) return Checker::OverwriteWhileRead;
      break;
  }
  return Checker::Race;
}

// What would have ordered the accesses of a wave's agent before others.
const char* missing_wait(const Cluster& cluster, Slot slot) {
  const Agent* agent = agent_of(cluster, slot);
  if (agent == nullptr) return "";
  if (agent->kind == AgentKind::WaveLoads) {
    return ": s_waitcnt vmcnt is missing, or not before the barrier";
  }
  if (agent->kind == AgentKind::WaveReads) {
    return ": s_waitcnt lgkmcnt is missing, or not before the barrier";
  }
  return "";
}

std::string reason(const Cta& cta, const Conflict& conflict, Checker checker) {
  if (checker == Checker::Uninitialised) return "which nobody has written";
  if (checker == Checker::BarrierLife) {
    return cta.counters.contains(conflict.offset) ? "which holds a counter"
                                                  : "which holds an mbarrier";
  }
  const std::string other = actor(*cta.cluster, conflict.prior.slot);
  const std::string when = step_words(conflict.prior.site);
  const char* wait = missing_wait(*cta.cluster, conflict.prior.slot);
  if (checker == Checker::ReadBeforeFull) {
    return fmt::format("without having waited for the {} that write there{}{}", other,
                       when.empty() ? when : " (issued" + when + ")", wait);
  }
  if (checker == Checker::OverwriteWhileRead) {
    if (conflict.kind == Conflict::WriteAfterRead) {
      return fmt::format("while {} may still read it{}{}", other,
                         when.empty() ? when : " (" + when.substr(1) + ")", wait);
    }
    return fmt::format("although nobody is known to have read what {} brought{}{}", other, when,
                       wait);
  }
  if (checker == Checker::MissingProxyFence) {
    return fmt::format(
        "which {} {}{}: a barrier orders the two, but neither of them executed fence.proxy.async, "
        "the "
        "first before the barrier or the second after it",
        other, conflict.kind == Conflict::WriteAfterRead ? "read" : "wrote", when);
  }
  return fmt::format("which {} wrote{}, and nothing orders the two", other, when);
}

// Who completed the phase that let a thread on to overwrite a stage that is still read.
std::string who_let_go(const Thread& thread, Checker checker, int stage) {
  const LastArrival& arrival = thread.let_pass;
  if (checker != Checker::OverwriteWhileRead || arrival.thread == nullptr) return "";
  if (thread.passed->stage != stage) return "";  // a barrier of something else
  const std::string step =
      arrival.step == no_step ? "" : fmt::format(" at k-tile {}", arrival.step);
  return fmt::format(" It had passed {}, which the {} completed{} after {} ns.",
                     barrier_name(*thread.passed), who(*arrival.thread), step, arrival.time / 1000);
}

}  // namespace

bool is_generic_writer(const Cta& cta, Slot slot) {
  const Agent* agent = agent_of(*cta.cluster, slot);
  return agent == nullptr || agent->kind == AgentKind::ThreadCopies;
}

void report_conflict(Engine& machine, Cta& cta, const Access& access, const Conflict& conflict) {
  const Checker checker = classify(cta, access, conflict);
  const Thread& thread = *access.thread;
  machine.report_two(
      thread.role, checker, place_stage(cta, conflict.offset), place_subject(cta, conflict.offset),
      conflict.prior.site, [&] {
        const bool reads =
            conflict.kind == Conflict::ReadOfNothing || conflict.kind == Conflict::ReadAfterWrite;
        const std::string step =
            thread.step == no_step ? "" : fmt::format(" at k-tile {}", thread.step);
        return fmt::format("The {}{}: {} {} {}, {}.{}", who(thread), step, access.what,
                           reads ? "reads" : "writes", place_name(cta, conflict.offset),
                           reason(cta, conflict, checker),
                           who_let_go(thread, checker, place_stage(cta, conflict.offset)));
      });
}

}  // namespace tw::vgpu
