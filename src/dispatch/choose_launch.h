// How the dispatcher of any family chooses: every launch of its kernels that computes a problem, by
// expected cost.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "src/dispatch/cost.h"
#include "src/dispatch/measured.h"
#include "src/instances/instance.h"

namespace tw {

struct LaunchChoice {
  const Instance* instance = nullptr;
  LaunchOrder order;
  double microseconds = 0;  // by the cost model
  bool measured = false;    // by a table
};

// Why a candidate was not taken.
struct LaunchRejection {
  const Instance* instance;
  std::string sentence;
};

inline KernelFacts kernel_facts(const Instance& instance) {
  const ProductFacts& facts = product_facts(instance);
  return {.target = instance.target,
          .config = facts.config,
          .any_alignment = facts.any_alignment,
          .by_threads = facts.by_threads,
          .scales_sums = facts.b_scale_rows > 0 && facts.config.promote_every > 0,
          .by_warps = facts.stages == 0,
          .capability_end = instance.capability_end,
          .efficiency = instance.efficiency};
}

// A launch whose price is asked for; the product is the one that Family::priced() states.
struct PricedLaunch {
  const Instance& instance;
  const KernelFacts& facts;
  const Checked& problem;
  const MatmulProblem& product;
  const LaunchOrder& order;
  const Machine& machine;

  double microseconds(Situation situation, double operand_bytes = 0) const {
    return expected_microseconds(facts, product, order, machine, situation, operand_bytes);
  }
};

// What a Family of launches has that does not say otherwise.
struct UsualChoice {
  static KernelFacts facts(const Instance& instance) { return kernel_facts(instance); }
  // The product whose cost is asked for.
  static MatmulProblem priced(const Instance&, const KernelProblem& problem) {
    return problem.product;
  }
  static std::string call(const Checked& problem) { return call_of(problem); }
  static const char* does(const Checked& problem) { return problem.description().does; }
  // True where kernels that cut sums have no like that does not.
  static constexpr bool only_in_parts = false;
  // Kernels were measured in launches that follow each other.
  static double microseconds(const PricedLaunch& launch) {
    return launch.microseconds(Situation::Following);
  }
  // Whether a kernel is of another kind than the problem's, and so no near one.
  static bool is_of_other_kind(const MatmulConfig&, const Checked&) { return false; }
};

// The kernels of a family that multiplies, chosen as usual.
template <std::span<const Instance> (*all)()>
struct DescribedProducts : UsualChoice {
  static auto instances() { return all(); }
};

// The order in which a kernel is asked first.
inline LaunchOrder usual_order(const Instance& instance) {
  return {.stream_k = config_of(instance).split == Split::Stream};
}

// Every launch that computes the problem, none twice. A Family is a UsualChoice, and has
// instances(), what is compiled. `rejections` may be null.
template <class Family>
std::vector<LaunchChoice> launches_of(const Checked& problem, const DispatchRequest& request,
                                      std::vector<LaunchRejection>* rejections) {
  std::vector<LaunchChoice> found;
  const Machine machine = machine_of(request);
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
    const LaunchOrder usual = usual_order(instance);
    const KernelProblem taken = instance.take(problem);
    if (rejected(instance.takes(taken, usual))) continue;
    const MatmulProblem matmul = Family::priced(instance, taken);
    std::vector<LaunchOrder> orders = orders_of(config, matmul);
    // Sums too short for parts, or no other kernel leaves them whole.
    if (orders.empty() || (Family::only_in_parts && config.split == Split::Parts)) {
      orders.push_back(usual);
    }
    for (const LaunchOrder& order : orders) {
      if (order != usual && rejected(instance.takes(taken, order))) continue;
      if (rejected(fits(config, matmul, order, request))) continue;
      found.push_back({&instance, order,
                       Family::microseconds({instance, facts, problem, matmul, order, machine})});
    }
  }
  return found;
}

// The cheapest, or the first measured launch that is among all that there are: a table may be of
// kernels that this problem, or this library, does not have. Its instance is null where there is
// none.
LaunchChoice best_of(const std::vector<LaunchChoice>& all,
                     const std::vector<const MeasuredLaunch*>& measured);

// No kernel has as many obstacles as one that does not run on the device.
inline constexpr unsigned of_other_targets = 1000;

// Why there is no choice: what the nearest lacks. `does` is what no kernel does; `obstacles_of`
// counts what keeps a kernel of the device from it.
template <class ObstaclesOf>
Status no_launch(const char* does, const DispatchRequest& request,
                 const std::vector<LaunchRejection>& rejections, const ObstaclesOf& obstacles_of) {
  if (rejections.empty()) {
    return Status::refused(std::string("There is no instance '") + request.instance +
                           "'; ./tw list shows those that there are.");
  }
  const LaunchRejection* nearest = nullptr;
  unsigned fewest = 0;
  for (const LaunchRejection& rejection : rejections) {
    const Instance& instance = *rejection.instance;
    const bool runs = runs_on(instance.target, request.target, instance.capability_end);
    const unsigned obstacles = runs ? obstacles_of(instance) : of_other_targets;
    if (nearest != nullptr && obstacles >= fewest) continue;
    nearest = &rejection;
    fewest = obstacles;
  }
  return Status::refused(std::string("No compiled kernel ") + does + " on " + request.target +
                         ". The nearest, " + nearest->instance->name + ": " + nearest->sentence);
}

// A measured launch, or else the cheapest; where there is none, a sentence with what the nearest
// lack.
template <class Family>
Status choose_launch(LaunchChoice& choice, const Checked& problem, const DispatchRequest& request,
                     std::vector<LaunchRejection>* rejections) {
  std::vector<LaunchRejection> obstacles;
  choice = best_of(launches_of<Family>(problem, request, &obstacles),
                   measured_launches(Family::call(problem), request));
  if (rejections != nullptr) *rejections = obstacles;
  if (choice.instance != nullptr) return Status::good();
  return no_launch(Family::does(problem), request, obstacles, [&](const Instance& instance) {
    unsigned count = suits(Family::facts(instance), request).obstacles();
    count += instance.supports(problem, {usual_order(instance)}).obstacles();
    if (Family::is_of_other_kind(config_of(instance), problem)) count += of_other_targets / 2;
    return count;
  });
}

// Matmul's own kernels, whichever family asks for a product.
std::span<const Instance> matmul_instances();

using Choice = LaunchChoice;

struct MatmulProducts : DescribedProducts<matmul_instances> {
  // Who declares weights constant lets launches overlap. Others run amid foreign kernels.
  static double microseconds(const PricedLaunch& launch) {
    const bool overlaps = launch.problem.as<tw_matmul_problem>().b_is_constant != 0;
    return launch.microseconds(overlaps ? Situation::Following : Situation::Amid);
  }
};
inline constexpr auto candidates = launches_of<MatmulProducts>;
inline constexpr auto choose = choose_launch<MatmulProducts>;

}  // namespace tw
