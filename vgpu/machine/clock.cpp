#include "vgpu/machine/clock.h"

#include <algorithm>
#include <limits>

namespace tw::vgpu {
namespace {

bool raise_all(std::vector<Epoch>& entries, const std::vector<Epoch>& other) {
  if (entries.size() < other.size()) entries.resize(other.size(), 0);
  Epoch rose = 0;
  for (std::size_t i = 0; i < other.size(); ++i) {
    rose |= static_cast<Epoch>(entries[i] < other[i]);
    entries[i] = std::max(entries[i], other[i]);
  }
  return rose != 0;
}

bool at_least(const std::vector<Epoch>& entries, const std::vector<Epoch>& other) {
  const std::size_t common = std::min(entries.size(), other.size());
  Epoch less = 0;
  for (std::size_t i = 0; i < common; ++i) less |= static_cast<Epoch>(entries[i] < other[i]);
  for (std::size_t i = common; i < other.size(); ++i) less |= other[i];
  return less == 0;
}

// Lowers `entries` to what `other` knows; entry `only` counts as `own` there.
void lower_all(std::vector<Epoch>& entries, const std::vector<Epoch>& other, Slot only, Epoch own) {
  const Epoch kept = only < entries.size() ? std::min(entries[only], own) : 0;
  for (std::size_t i = other.size(); i < entries.size(); ++i) entries[i] = 0;
  const std::size_t common = std::min(entries.size(), other.size());
  for (std::size_t i = 0; i < common; ++i) entries[i] = std::min(entries[i], other[i]);
  if (only < entries.size()) entries[only] = kept;
}

// Where the cluster is, or would be inserted.
auto place_of(auto& others, unsigned cluster) {
  return std::lower_bound(
      others.begin(), others.end(), cluster,
      [](const OtherCluster& known, unsigned wanted) { return known.cluster < wanted; });
}

}  // namespace

const Clock* Clock::other(unsigned cluster) const {
  const auto place = place_of(others, cluster);
  return place != others.end() && place->cluster == cluster ? place->clock.get() : nullptr;
}

bool Clock::raise_other(unsigned cluster, const ClockRef& clock) {
  const auto place = place_of(others, cluster);
  if (place == others.end() || place->cluster != cluster) {
    others.insert(place, {cluster, clock});
    return true;
  }
  if (place->clock == clock || place->clock->includes(*clock.get())) return false;
  if (clock->includes(*place->clock.get())) {
    place->clock = clock;
    return true;
  }
  ClockRef both(pool->take());
  both.edit()->join(*place->clock.get());
  both.edit()->join(*clock.get());
  place->clock = both;
  return true;
}

bool Clock::join(const Clock& clock) {
  bool rose = raise_all(happened, clock.happened);
  rose |= raise_all(visible, clock.visible);
  for (const OtherCluster& known : clock.others) rose |= raise_other(known.cluster, known.clock);
  return rose;
}

bool Clock::includes(const Clock& clock) const {
  if (!at_least(happened, clock.happened) || !at_least(visible, clock.visible)) return false;
  return std::all_of(clock.others.begin(), clock.others.end(), [&](const OtherCluster& theirs) {
    const Clock* const ours = other(theirs.cluster);
    return ours == theirs.clock.get() || (ours != nullptr && ours->includes(*theirs.clock.get()));
  });
}

Clock& ReleaseClock::gathered(ClockPool& pool) {
  if (!gathered_) gathered_ = ClockRef(pool.take());
  return *gathered_.edit();
}

void ReleaseClock::add(ClockPool& pool, ThreadView& view) {
  Clock& clock = gathered(pool);
  if (view.known && !(view.known == joined_[0]) && !(view.known == joined_[1])) {
    clock.join(*view.known.get());
    joined_[next_] = view.known;
    next_ ^= 1;
  }
  clock.raise(view.self, view.epoch);
  clock.raise_visible(view.self, view.visible);
  ++view.epoch;
}

void ReleaseClock::add_agents(ClockPool& pool, const ThreadView& view, Slot first_agent) {
  Clock& clock = gathered(pool);
  if (!view.known) return;
  for (std::size_t slot = first_agent; slot < view.known->happened.size(); ++slot) {
    clock.raise(static_cast<Slot>(slot), view.known->happened[slot]);
  }
}

void ReleaseClock::raise(ClockPool& pool, Slot slot, Epoch epoch) {
  gathered(pool).raise(slot, epoch);
}

ClockRef ReleaseClock::finish() {
  joined_[0] = joined_[1] = {};
  return std::exchange(gathered_, {});
}

ClockRef ClockJoiner::join(ClockPool& pool, const ClockRef& left, const ClockRef& right) {
  if (!right || left == right) return left;
  if (!left) return right;
  const auto hash = reinterpret_cast<std::uintptr_t>(left.get()) / sizeof(Clock) * 31 +
                    reinterpret_cast<std::uintptr_t>(right.get()) / sizeof(Clock);
  Entry& entry = memory_[hash % entries];
  if (entry.left == left && entry.right == right) return entry.result;
  ClockRef result;
  // The same object for the same knowledge keeps later joins cheap.
  if (right->includes(*left.get())) {
    result = right;
  } else {
    result = ClockRef(pool.take());
    result.edit()->happened = left->happened;
    result.edit()->visible = left->visible;
    result.edit()->others = left->others;
    if (!result.edit()->join(*right.get())) result = left;
  }
  entry = {left, right, result};
  return result;
}

void CommonView::add(const ThreadView& view) {
  for (Seen& seen : seen_) {
    if (seen.known == view.known) {
      seen.only = no_slot;
      return;
    }
  }
  seen_.push_back({view.known, view.self, view.visible});
}

ClockRef CommonView::get(ClockPool& pool) const {
  if (seen_.size() == 1) return seen_[0].known;
  for (const Seen& seen : seen_) {
    if (!seen.known) return {};
  }
  constexpr Epoch everything = std::numeric_limits<Epoch>::max();
  std::size_t slots = 0, threads = 0;
  for (const Seen& seen : seen_) {
    slots = std::max(slots, seen.known->happened.size());
    threads = std::max(threads, seen.known->visible.size());
  }
  // Nothing is known of other clusters: these instructions do not touch global memory.
  ClockRef result(pool.take());
  result.edit()->happened.assign(slots, everything);
  result.edit()->visible.assign(threads, everything);
  for (const Seen& seen : seen_) {
    lower_all(result.edit()->happened, seen.known->happened, seen.only, everything);
    lower_all(result.edit()->visible, seen.known->visible, seen.only, seen.visible);
  }
  return result;
}

}  // namespace tw::vgpu
