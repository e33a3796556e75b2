#include "vgpu/machine/schedule.h"

#include <algorithm>

#include "vgpu/machine/cluster.h"

namespace tw::vgpu {
namespace {

constexpr std::uint64_t longest_slice = 4096;
constexpr std::uint64_t starved_share = 3;     // one warp in three
constexpr std::uint64_t short_wait_share = 8;  // one wait in eight reaches its time limit

}  // namespace

Schedule::Schedule(const Options& options)
    : policy_(options.landing),
      steps_(options.steps),
      random_(options.seed),
      limits_(~options.seed) {
  // Frequent and rare landings find different bugs: each seed has its own temper.
  landing_odds_ = std::uint64_t{1} << (1 + 2 * random_.below(5));
  preemption_odds_ = std::uint64_t{1} << (4 + 2 * random_.below(4));
  variant_ = static_cast<unsigned>(random_.below(8));
  starvation_ = random_.next();
}

Thread* Schedule::Queue::pop(std::size_t index) {
  std::swap(threads_[first_], threads_[first_ + index]);
  Thread* thread = threads_[first_++];
  if (empty()) {
    threads_.clear();
    first_ = 0;
  } else if (first_ > 4096 && first_ > threads_.size() / 2) {
    threads_.erase(threads_.begin(), threads_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  return thread;
}

bool Schedule::is_starved(const Thread& thread) const {
  Random dice(starvation_ ^ (std::uint64_t{thread.cta->index} << 32 | thread.warp->index));
  return dice.one_in(starved_share);
}

void Schedule::add_ready(Thread& thread) {
  const bool starve = steps_ == nullptr && policy_ == Landing::Adversarial && is_starved(thread);
  (starve ? starved_ : ready_).push(&thread);
}

std::uint64_t Schedule::draw_time_slice() {
  if (steps_ != nullptr) return 0;
  if (policy_ == Landing::Eager || policy_ == Landing::Lazy) return longest_slice;
  return 1 + std::min(longest_slice - 1, random_.below(2 * preemption_odds_));
}

bool Schedule::wait_runs_out() {
  if (steps_ != nullptr || policy_ == Landing::Eager || policy_ == Landing::Lazy) return false;
  return limits_.one_in(short_wait_share);
}

PendingLanding Schedule::take(std::size_t index) {
  const PendingLanding landing = landings_[index];
  landings_.erase(landings_.begin() + static_cast<std::ptrdiff_t>(index));
  return landing;
}

bool Schedule::take_landing(const Cluster* cluster, PendingLanding& landing) {
  for (std::size_t index = 0; index < landings_.size(); ++index) {
    if (cluster == nullptr || landings_[index].cluster == cluster) {
      landing = take(index);
      return true;
    }
  }
  return false;
}

std::size_t Schedule::pick_landing() {
  switch (policy_) {
    case Landing::Random: return random_.below(landings_.size());
    case Landing::Adversarial:
      if (variant_ % 4 == 3) return random_.below(landings_.size());
      return variant_ % 2 == 0 ? landings_.size() - 1 : 0;
    default: return 0;
  }
}

bool Schedule::choose(Choice& choice) {
  if (steps_ != nullptr) return choose_step(choice);
  if (policy_ == Landing::Eager && !landings_.empty()) {
    choice = {nullptr, take(0)};
    return true;
  }
  if (first_ != nullptr) {
    choice = {first_, {}};
    first_ = nullptr;
    return true;
  }
  if (policy_ == Landing::Adversarial) return choose_adversarial(choice);
  const bool land_early =
      policy_ == Landing::Random && !landings_.empty() && random_.one_in(landing_odds_);
  if (!ready_.empty() && !land_early) {
    const bool shuffle = policy_ == Landing::Random && random_.one_in(8);
    choice = {ready_.pop(shuffle ? random_.below(ready_.size()) : 0), {}};
    return true;
  }
  if (landings_.empty()) return false;
  choice = {nullptr, take(pick_landing())};
  return true;
}

bool Schedule::choose_step(Choice& choice) {
  struct Candidate {
    Process process;
    bool is_landing;
    std::size_t index;
  };
  std::vector<Candidate> candidates;
  std::vector<BlockedProcess> blocked;
  for (std::size_t i = 0; i < ready_.size(); ++i) {
    const Thread& thread = *ready_[i];
    if (thread.may_go && !thread.may_go()) {
      blocked.push_back({thread.process(), thread.awaits});
    } else {
      candidates.push_back({thread.process(), false, i});
    }
  }
  for (std::size_t i = 0; i < landings_.size(); ++i) {
    candidates.push_back({landings_[i].process, true, i});
  }
  std::ranges::sort(candidates, {}, &Candidate::process);
  std::vector<Process> enabled;
  for (const Candidate& candidate : candidates) enabled.push_back(candidate.process);
  const int chosen = steps_->choose(enabled, blocked);
  if (chosen < 0) return false;
  const Candidate& candidate = candidates[static_cast<std::size_t>(chosen)];
  if (candidate.is_landing) {
    choice = {nullptr, take(candidate.index)};
  } else {
    choice = {ready_.pop(candidate.index), {}};
  }
  return true;
}

// Everything that may still run runs before anything lands; then either the starved warps move or
// something lands, and other warps starve.
bool Schedule::choose_adversarial(Choice& choice) {
  if (!ready_.empty()) {
    choice = {ready_.pop(0), {}};
    return true;
  }
  const bool land_first = variant_ / 4 == 0;
  if (!landings_.empty() && (land_first || starved_.empty())) {
    choice = {nullptr, take(pick_landing())};
    return true;
  }
  if (starved_.empty()) return false;
  starvation_ = random_.next();
  while (!starved_.empty()) ready_.push(starved_.pop(0));
  choice = {ready_.pop(0), {}};
  return true;
}

}  // namespace tw::vgpu
