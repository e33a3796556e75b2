#include "src/dispatch/choose.h"

#include "src/dispatch/measured.h"

namespace tw {

namespace {

struct Products {
  static auto instances() { return matmul_instances(); }
  static KernelFacts facts(const MatmulInstance& instance) {
    return {.target = instance.target,
            .config = instance.config,
            .any_alignment = instance.any_alignment,
            .by_threads = instance.by_threads,
            .is_step = instance.is_step};
  }
  static const MatmulProblem& matmul(const MatmulInstance&, const MatmulProblem& problem) {
    return problem;
  }
  static double operand_bytes(const MatmulProblem&) { return 0; }
};

}  // namespace

std::vector<Choice> candidates(const MatmulProblem& problem, const DispatchRequest& request,
                               std::vector<Rejection>* rejections) {
  return launches_of<Products>(problem, request, rejections);
}

Status choose(Choice& choice, const MatmulProblem& problem, const DispatchRequest& request,
              std::vector<Rejection>* rejections) {
  std::vector<Rejection> obstacles;
  const std::vector<Choice> all = candidates(problem, request, &obstacles);
  choice = cheapest_of(all);
  if (const MeasuredLaunch* known = measured_launch(problem, request)) {
    for (const Choice& candidate : all) {
      if (std::strcmp(candidate.instance->name, known->instance) != 0 ||
          candidate.order.split_k != known->split_k) {
        continue;
      }
      choice = candidate;
      choice.order.group = known->group;
      choice.order.raster = known->raster;
      choice.measured = true;
    }
  }
  if (rejections != nullptr) *rejections = obstacles;
  if (choice.instance != nullptr) return Status::good();
  return no_launch("product", request, obstacles,
                   [&](const MatmulConfig& config) { return distance_between(config, problem); });
}

}  // namespace tw
