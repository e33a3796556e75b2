#include "vgpu/machine/global_race.h"

#include <fmt/format.h>

#include "vgpu/machine/engine.h"

namespace tw::vgpu {
namespace {

std::uint64_t key_of(const GlobalRecord& record) {
  return std::uint64_t{record.epoch} << 32 | record.actor << 1 | record.writes;
}

// What the access knows of the actor's cluster: null if nothing.
const Clock* known_of(const GlobalAccess& access, const GlobalActor& actor) {
  const Clock* const known = access.access.known;
  if (actor.cluster == access.access.thread->cta->cluster->index() || known == nullptr) {
    return known;
  }
  return known->other(actor.cluster);
}

bool is_own(const GlobalAccess& access, const GlobalActor& actor) {
  return actor.slot == access.access.self &&
         actor.cluster == access.access.thread->cta->cluster->index();
}

bool happened_before(const GlobalAccess& access, const GlobalActor& actor, Epoch epoch) {
  const Clock* const known = known_of(access, actor);
  return is_own(access, actor) || (known != nullptr && known->covers(actor.slot, epoch));
}

// Generic writes must also be visible to an async access.
bool is_visible(const GlobalAccess& access, const GlobalActor& actor, Epoch epoch) {
  if (is_own(access, actor)) return epoch <= access.access.self_visible;
  const Clock* const known = known_of(access, actor);
  return known != nullptr && known->shows(actor.slot, epoch);
}

bool needs_fence(const GlobalAccess& access, const GlobalActor& actor, const GlobalRecord& record) {
  return record.writes != 0 && access.access.async && actor.generic;
}

std::string name_of(const GlobalActor& actor) {
  const std::string thread = who(actor.role, actor.thread, actor.cta);
  return actor.agent == nullptr ? "the " + thread
                                : fmt::format("a {} of the {}", actor.agent, thread);
}

void judge(Engine& machine, const void* begin, std::uint32_t bytes, const void* value,
           GlobalAccess& access) {
  if (!machine.order.enabled() || bytes == 0) return;
  GlobalMemory::Range* const range = machine.global.find(begin, bytes);
  if (range == nullptr || range->shadow == nullptr) return;
  range->shadow->touch(machine, begin, bytes, value, access);
}

}  // namespace

bool comes_first(const Engine& machine, GlobalAccess& access, const GlobalRecord& record) {
  if (access.ordered == key_of(record)) return true;
  const GlobalActor& actor = machine.actors[record.actor];
  const bool first = needs_fence(access, actor, record)
                         ? is_visible(access, actor, record.epoch)
                         : happened_before(access, actor, record.epoch);
  if (first) access.ordered = key_of(record);
  return first;
}

void report_global_race(Engine& machine, const char* range, const GlobalAccess& access, bool writes,
                        const GlobalConflict& conflict) {
  const GlobalRecord& prior = conflict.prior;
  const GlobalActor& actor = machine.actors[prior.actor];
  const Thread& thread = *access.access.thread;
  const bool lacks_only_fence =
      needs_fence(access, actor, prior) && happened_before(access, actor, prior.epoch);
  machine.report_two(
      thread.role, lacks_only_fence ? Checker::MissingProxyFence : Checker::GlobalRace, -1, range,
      prior.site, [&] {
        return fmt::format("The {}{}: {} {} bytes {} to {} of {}{}, which {} {}{}, and {}.",
                           who(thread), step_words(access.access.site), access.access.what,
                           writes ? "writes" : "reads", conflict.first, conflict.last, range,
                           writes && prior.writes != 0 ? " with another value" : "", name_of(actor),
                           prior.writes != 0 ? "wrote" : "read", step_words(prior.site),
                           lacks_only_fence ? "which executed no fence.proxy.async after it"
                                            : "nothing orders the two");
      });
}

void judge_global_read(Engine& machine, const void* begin, std::uint32_t bytes,
                       GlobalAccess& access) {
  judge(machine, begin, bytes, nullptr, access);
}

void judge_global_write(Engine& machine, const void* begin, const void* value, std::uint32_t bytes,
                        GlobalAccess& access) {
  judge(machine, begin, bytes, value, access);
}

}  // namespace tw::vgpu
