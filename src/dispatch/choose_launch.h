// How the dispatcher of any family chooses: every launch of its kernels that computes a problem, by
// expected cost.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "src/dispatch/cost.h"
#include "src/dispatch/measured.h"

namespace tw {

template <class Instance>
struct LaunchChoice {
  const Instance* instance = nullptr;
  LaunchOrder order;
  double microseconds = 0;  // by the cost model
  bool measured = false;    // by a table
};

// Why a candidate was not taken.
template <class Instance>
struct LaunchRejection {
  const Instance* instance;
  std::string sentence;
};

// The configuration of an instance that multiplies, whatever its family.
template <class Instance>
requires requires(const Instance& instance) { instance.config.tiling; }
const MatmulConfig& config_of(const Instance& instance) { return instance.config; }

// What a Family of launches has that does not say otherwise.
struct UsualChoice {
  // True where kernels that cut sums have no like that does not.
  static constexpr bool only_in_parts = false;
  // Whether a kernel is of another kind than the problem's, and so no near one.
  template <class Problem>
  static bool is_of_other_kind(const MatmulConfig&, const Problem&) {
    return false;
  }
};

// Every launch that computes the problem, none twice. A Family is a UsualChoice, and has
//   instances()                          what is compiled
//   facts(instance)                      its KernelFacts
//   matmul(instance, problem)            the product that it is; asked where the kernel supports
//   operand_bytes(problem)               as of expected_microseconds
// `rejections` may be null.
template <class Family, class Problem, class Instance>
std::vector<LaunchChoice<Instance>> launches_of(
    const Problem& problem, const DispatchRequest& request,
    std::vector<LaunchRejection<Instance>>* rejections) {
  std::vector<LaunchChoice<Instance>> found;
  for (const Instance& instance : Family::instances()) {
    if (request.instance != nullptr && std::strcmp(instance.name, request.instance) != 0) continue;
    const auto rejected = [&](const Status& status) {
      if (status.is_good()) return false;
      if (rejections != nullptr) rejections->push_back({&instance, status.sentence()});
      return true;
    };
    const KernelFacts facts = Family::facts(instance);
    if (rejected(suits(facts, request))) continue;
    const MatmulConfig& config = config_of(instance);
    const LaunchOrder usual = {.stream_k = config.split == Split::Stream};
    if (rejected(instance.supports(problem, {usual}))) continue;
    const MatmulProblem matmul = Family::matmul(instance, problem);
    std::vector<LaunchOrder> orders = orders_of(config, matmul);
    // Sums too short for parts, or no other kernel leaves them whole.
    if (orders.empty() || (Family::only_in_parts && config.split == Split::Parts)) {
      orders.push_back(usual);
    }
    for (const LaunchOrder& order : orders) {
      if (rejected(instance.supports(problem, {order}))) continue;
      if (rejected(fits(config, matmul, order, request))) continue;
      found.push_back({&instance, order,
                       expected_microseconds(facts, matmul, order, request.sms,
                                             Family::operand_bytes(problem))});
    }
  }
  return found;
}

template <class Instance>
LaunchChoice<Instance> cheapest_of(const std::vector<LaunchChoice<Instance>>& all) {
  LaunchChoice<Instance> best;
  for (const LaunchChoice<Instance>& one : all) {
    if (best.instance == nullptr || one.microseconds < best.microseconds) best = one;
  }
  return best;
}

// The first measured launch that is among all that there are, in place of the choice; a table may
// be of kernels that this problem, or this library, does not have.
template <class Instance>
void take_measured(LaunchChoice<Instance>& choice, const std::vector<LaunchChoice<Instance>>& all,
                   const std::vector<const MeasuredLaunch*>& measured) {
  for (const MeasuredLaunch* known : measured) {
    for (const LaunchChoice<Instance>& one : all) {
      if (one.instance->name != known->instance || one.order.split_k != known->split_k) continue;
      choice = one;
      choice.order.group = known->group;
      choice.order.raster = known->raster;
      choice.measured = true;
      return;
    }
  }
}

// No kernel has as many obstacles as one that does not run on the device.
inline constexpr unsigned of_other_targets = 1000;

// Why there is no choice: what the nearest lacks. `does` is what no kernel does; `obstacles_of`
// counts what keeps a kernel of the device from it.
template <class Instance, class ObstaclesOf>
Status no_launch(const std::string& does, const DispatchRequest& request,
                 const std::vector<LaunchRejection<Instance>>& rejections,
                 const ObstaclesOf& obstacles_of) {
  if (rejections.empty()) {
    return Status::refused(std::string("There is no instance '") + request.instance +
                           "'; ./tw list shows those that there are.");
  }
  const LaunchRejection<Instance>* nearest = nullptr;
  unsigned fewest = 0;
  for (const LaunchRejection<Instance>& rejection : rejections) {
    const bool runs =
        runs_on(rejection.instance->target, request.target, rejection.instance->capability_end);
    const unsigned obstacles = runs ? obstacles_of(*rejection.instance) : of_other_targets;
    if (nearest != nullptr && obstacles >= fewest) continue;
    nearest = &rejection;
    fewest = obstacles;
  }
  return Status::refused("No compiled kernel " + does + " on " + request.target +
                         ". The nearest, " + nearest->instance->name + ": " + nearest->sentence);
}

// A measured launch, or else the cheapest; where there is none, a sentence with what the nearest
// lack. The Family also has does(problem), what a kernel of it does, and call(problem), by which
// tables know it.
template <class Family, class Problem, class Instance>
Status choose_launch(LaunchChoice<Instance>& choice, const Problem& problem,
                     const DispatchRequest& request,
                     std::vector<LaunchRejection<Instance>>* rejections) {
  std::vector<LaunchRejection<Instance>> obstacles;
  const std::vector<LaunchChoice<Instance>> all = launches_of<Family>(problem, request, &obstacles);
  choice = cheapest_of(all);
  take_measured(choice, all, measured_launches(Family::call(problem), request));
  if (rejections != nullptr) *rejections = obstacles;
  if (choice.instance != nullptr) return Status::good();
  return no_launch(Family::does(problem), request, obstacles, [&](const Instance& instance) {
    const MatmulConfig& config = config_of(instance);
    unsigned count = suits(Family::facts(instance), request).obstacles();
    count += instance.supports(problem, {{.stream_k = config.split == Split::Stream}}).obstacles();
    if (Family::is_of_other_kind(config, problem)) count += of_other_targets / 2;
    return count;
  });
}

}  // namespace tw
