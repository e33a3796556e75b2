#include "vgpu/explore/exploration.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

namespace tw::vgpu {
namespace {

using ProcessSet = std::set<Process>;
using Sleeping = std::map<Process, Footprint>;

// How many steps of each process come before a step, itself included; beyond the end: none.
using StepClock = std::vector<std::uint32_t>;

// A state on the path of the latest run, and the step that was taken there.
struct Node {
  std::vector<Process> enabled;
  ProcessSet backtrack;  // whom to try here
  Sleeping done;         // who has been tried, with the step that it took
  Sleeping asleep;       // whose step leads to runs that are equivalent to earlier ones

  Process chosen;
  std::size_t who = 0;  // the same, counted
  Footprint footprint;
  StepClock clock;           // with this step
  std::uint32_t number = 0;  // this step has among those of its process, from 1

  bool may(Process process) const { return std::ranges::binary_search(enabled, process); }
};

class Explorer final : public StepChooser {
 public:
  explicit Explorer(bool reduced) : reduced_(reduced) {}

  int choose(std::span<const Process> enabled, std::span<const BlockedProcess> blocked) override {
    blocked_.assign(blocked.begin(), blocked.end());
    if (enabled.empty()) return -1;
    if (depth_ == path_.size()) {
      if (!extend(enabled)) return -1;
    }
    Node& node = path_[depth_];
    if (!std::ranges::equal(node.enabled, enabled)) {
      throw std::logic_error("The kernel does not repeat itself: the same steps led elsewhere.");
    }
    const auto place = std::ranges::lower_bound(node.enabled, node.chosen);
    return static_cast<int>(place - node.enabled.begin());
  }

  void stepped(Footprint footprint) override { path_[depth_++].footprint = std::move(footprint); }

  void begin_run() {
    depth_ = 0;
    was_cut_ = false;
  }
  bool was_cut() const { return was_cut_; }
  std::size_t steps() const { return depth_; }

  // After a run: finds the steps whose order matters, and where to try another.
  void look_back() {
    for (std::size_t i = branch_; i < path_.size(); ++i) stamp(i);
    if (!reduced_) return;
    for (std::size_t i = branch_; i < path_.size(); ++i) {
      find_races(path_[i].chosen, path_[i].footprint, i);
    }
    for (const BlockedProcess& waiting : blocked_) {
      Footprint footprint;
      footprint.touches = {waiting.awaits};
      find_races(waiting.process, footprint, path_.size());
    }
    if (!was_cut_) return;
    for (const auto& [process, footprint] : asleep_at_end_) {
      find_races(process, footprint, path_.size());
    }
  }

  // The next run takes another step at the deepest state where one is left; false: there is none.
  bool turn() {
    while (!path_.empty()) {
      Node& node = path_.back();
      node.done.emplace(node.chosen, node.footprint);
      for (const Process process : node.backtrack) {
        if (node.done.contains(process) || node.asleep.contains(process)) continue;
        node.chosen = process;
        branch_ = path_.size() - 1;
        return true;
      }
      path_.pop_back();
    }
    return false;
  }

  std::vector<Process> schedule() const {
    std::vector<Process> steps;
    for (std::size_t i = 0; i < depth_; ++i) steps.push_back(path_[i].chosen);
    return steps;
  }

  // The natural logarithm of how many orders of its steps lead to the same, at least.
  double log_orders() const {
    double before = 0, behind = 0;
    for (std::size_t i = 0; i < path_.size(); ++i) {
      unsigned downward = 0, upward = 0;
      for (const std::uint32_t count : path_[i].clock) downward += count;
      for (std::size_t j = i; j < path_.size(); ++j) {
        upward += is_before(i, static_cast<std::ptrdiff_t>(j)) ? 1 : 0;
      }
      before += std::log(downward);
      behind += std::log(upward);
    }
    return std::lgamma(static_cast<double>(path_.size()) + 1) - std::min(before, behind);
  }

 private:
  // A new state at the end of the path; false: whatever is done here has been done before.
  bool extend(std::span<const Process> enabled) {
    Node node;
    node.enabled.assign(enabled.begin(), enabled.end());
    std::optional<Process> last;
    if (!path_.empty()) {
      const Node& before = path_.back();
      last = before.chosen;
      if (reduced_) {
        for (const Sleeping* sleeping : {&before.asleep, &before.done}) {
          for (const auto& [process, footprint] : *sleeping) {
            if (process == before.chosen || footprint.conflicts_with(before.footprint)) continue;
            node.asleep.emplace(process, footprint);
          }
        }
      }
    }
    std::optional<Process> chosen;
    for (const Process process : node.enabled) {
      if (node.asleep.contains(process)) continue;
      if (!chosen || process == last) chosen = process;
    }
    if (!chosen) {
      was_cut_ = true;
      asleep_at_end_ = node.asleep;
      return false;
    }
    node.chosen = *chosen;
    node.backtrack = {*chosen};
    if (!reduced_) node.backtrack.insert(enabled.begin(), enabled.end());
    path_.push_back(std::move(node));
    return true;
  }

  // The step before `end` since which the process is where it is: its own latest one, or another's
  // that let it land or woke it; -1: it is where it began.
  std::ptrdiff_t last_of(Process process, std::size_t end) const {
    const auto lets_go = [&](const Touch& touch) {
      return touch.space == TouchSpace::Process && touch.kind == TouchKind::Writes &&
             touch.begin == process.id();
    };
    for (std::size_t i = end; i-- > 0;) {
      const Node& node = path_[i];
      if (node.chosen == process || std::ranges::any_of(node.footprint.touches, lets_go)) {
        return static_cast<std::ptrdiff_t>(i);
      }
    }
    return -1;
  }

  void stamp(std::size_t index) {
    Node& node = path_[index];
    node.who = counted_.try_emplace(node.chosen, counted_.size()).first->second;
    node.clock.assign(counted_.size(), 0);
    node.number = 1;
    for (std::size_t i = 0; i < index; ++i) {
      const Node& before = path_[i];
      const bool is_own = before.who == node.who;
      if (is_own) node.number = before.number + 1;
      if (!is_own && !before.footprint.conflicts_with(node.footprint)) continue;
      for (std::size_t who = 0; who < before.clock.size(); ++who) {
        node.clock[who] = std::max(node.clock[who], before.clock[who]);
      }
    }
    node.clock[node.who] = node.number;
  }

  // Whether step `i` comes before step `later` in every equivalent run.
  bool is_before(std::size_t i, std::ptrdiff_t later) const {
    if (later < 0) return false;
    const StepClock& clock = path_[static_cast<std::size_t>(later)].clock;
    return path_[i].who < clock.size() && clock[path_[i].who] >= path_[i].number;
  }

  // `footprint` is what the process does next, from its last step before `end` on.
  void find_races(Process process, const Footprint& footprint, std::size_t end) {
    const std::ptrdiff_t last = last_of(process, end);
    for (std::size_t i = end; i-- > 0;) {
      const Node& node = path_[i];
      if (node.chosen == process || !node.footprint.conflicts_with(footprint)) continue;
      if (is_before(i, last)) continue;
      // Where it could not go, it waited for one thing, and whoever could have let it go conflicts
      // with this step: their own race tells.
      const bool waited = static_cast<std::ptrdiff_t>(i) > last && !node.may(process);
      if (!waited) try_before(i, process, footprint, last, end);
    }
  }

  // Lets what the process does at `end` happen before step `i`, with all that need not come behind
  // that step: whoever may begin that is tried there.
  void try_before(std::size_t i, Process process, const Footprint& footprint, std::ptrdiff_t last,
                  std::size_t end) {
    std::vector<std::size_t> sooner;  // steps that need not come behind step i
    ProcessSet began;
    std::vector<Process> beginners;
    for (std::size_t j = i + 1; j < end; ++j) {
      if (is_before(i, static_cast<std::ptrdiff_t>(j))) continue;
      const bool is_first = std::ranges::none_of(sooner, [&](std::size_t earlier) {
        return is_before(earlier, static_cast<std::ptrdiff_t>(j));
      });
      if (began.insert(path_[j].chosen).second && is_first) beginners.push_back(path_[j].chosen);
      sooner.push_back(j);
    }
    const bool begins = std::ranges::none_of(sooner, [&](std::size_t earlier) {
      return is_before(earlier, last) || path_[earlier].footprint.conflicts_with(footprint);
    });
    if (!began.contains(process) && begins) beginners.push_back(process);
    Node& node = path_[i];
    std::optional<Process> first;
    for (const Process beginner : beginners) {
      if (node.backtrack.contains(beginner) || node.asleep.contains(beginner)) return;
      if (!first && node.may(beginner)) first = beginner;
    }
    if (first) {
      node.backtrack.insert(*first);
    } else {
      node.backtrack.insert(node.enabled.begin(), node.enabled.end());
    }
  }

  bool reduced_;
  std::map<Process, std::size_t> counted_;
  std::vector<Node> path_;
  std::size_t depth_ = 0;
  std::size_t branch_ = 0;  // the first step that the latest run did not share with the one before
  bool was_cut_ = false;
  std::vector<BlockedProcess> blocked_;
  Sleeping asleep_at_end_;
};

class Replayer final : public StepChooser {
 public:
  explicit Replayer(const std::vector<Process>& schedule) : schedule_(schedule) {}
  int choose(std::span<const Process> enabled, std::span<const BlockedProcess>) override {
    if (enabled.empty()) return -1;
    if (next_ == schedule_.size()) return 0;
    const auto place = std::ranges::find(enabled, schedule_[next_]);
    if (place == enabled.end()) {
      throw std::runtime_error(fmt::format(
          "Step {} of the schedule, {}, is not possible: it belongs to another protocol or bound.",
          next_ + 1, to_text({schedule_[next_]})));
    }
    ++next_;
    return static_cast<int>(place - enabled.begin());
  }
  void stepped(Footprint) override {}

 private:
  const std::vector<Process>& schedule_;
  std::size_t next_ = 0;
};

Options chosen_by(StepChooser& steps) {
  Options options;
  options.steps = &steps;
  options.stall_seconds = 0;
  options.sm_count = 32;
  return options;
}

std::string why_not(const Outcome& outcome) {
  if (!outcome.report.findings.empty()) return outcome.report.findings[0].name;
  if (!outcome.report.incomplete.empty()) return outcome.report.incomplete[0];
  return "wrong result";
}

// log(exp(a) + exp(b)).
double log_sum(double a, double b) {
  const double high = std::max(a, b);
  return high + std::log1p(std::exp(std::min(a, b) - high));
}

}  // namespace

Exploration explore(const ExploredRun& run, const ExplorationLimits& limits,
                    const std::function<void(const Outcome&)>& each) {
  const auto begin = std::chrono::steady_clock::now();
  Exploration result;
  Explorer explorer(limits.reduced);
  const Options options = chosen_by(explorer);
  double log_orders = 0;
  bool is_over = false;
  std::string stopped;
  while (!is_over) {
    explorer.begin_run();
    Outcome outcome = run(options);
    result.transitions += explorer.steps();
    result.longest = std::max<std::uint64_t>(result.longest, explorer.steps());
    explorer.look_back();
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (explorer.was_cut()) {
      ++result.cut;
    } else {
      const double log = explorer.log_orders();
      log_orders = result.executions == 0 ? log : log_sum(log_orders, log);
      ++result.executions;
      if (each) each(outcome);
      const bool is_clean = outcome.right && outcome.report.verdict() == Report::Clean;
      if (!is_clean && result.why.empty()) {
        result.why = why_not(outcome);
        const bool is_found = !outcome.right || !outcome.report.findings.empty();
        result.verdict = is_found ? Exploration::Refuted : Exploration::Incomplete;
        result.schedule = explorer.schedule();
        result.refutation = std::move(outcome);
      }
    }
    if (!result.why.empty() && !limits.to_the_end) break;
    is_over = !explorer.turn();
    if (is_over) break;
    if (result.executions + result.cut >= limits.executions) {
      stopped = fmt::format("the limit of {} executions", limits.executions);
    } else if (result.seconds >= limits.seconds) {
      stopped = fmt::format("the limit of {} seconds", limits.seconds);
    }
    if (!stopped.empty()) break;
  }
  result.log10_interleavings = log_orders / std::log(10.0);
  if (!result.why.empty()) return result;
  if (is_over) {
    result.verdict = Exploration::Proved;
  } else {
    result.why = stopped;
  }
  return result;
}

Outcome replay(const ExploredRun& run, const std::vector<Process>& schedule) {
  Replayer replayer(schedule);
  return run(chosen_by(replayer));
}

}  // namespace tw::vgpu
