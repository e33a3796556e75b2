#include "src/dispatch/choose.h"

#include <cstring>

#include "src/dispatch/cost.h"
#include "src/dispatch/measured.h"

namespace tw {

namespace {

KernelFacts facts_of(const MatmulInstance& instance) {
  return {instance.target, instance.config, instance.any_alignment, instance.is_step};
}

}  // namespace

std::vector<Choice> candidates(const MatmulProblem& problem, const DispatchRequest& request,
                               std::vector<Rejection>* rejections) {
  std::vector<Choice> found;
  const auto reject = [rejections](const MatmulInstance& instance, const Status& status) {
    if (rejections != nullptr) rejections->push_back({&instance, status.sentence()});
  };
  for (const MatmulInstance& instance : matmul_instances()) {
    if (request.instance != nullptr && std::strcmp(instance.name, request.instance) != 0) continue;
    if (Status status = suits(facts_of(instance), request); !status.is_good()) {
      reject(instance, status);
      continue;
    }
    for (const MatmulOrder& order : orders_of(instance.config, problem)) {
      if (Status status = instance.supports(problem, order); !status.is_good()) {
        reject(instance, status);
        break;
      }
      if (Status status = fits(instance.config, problem, order, request); !status.is_good()) {
        reject(instance, status);
        continue;
      }
      found.push_back({&instance, order,
                       expected_microseconds(facts_of(instance), problem, order, request.sms)});
    }
  }
  return found;
}

Status choose(Choice& choice, const MatmulProblem& problem, const DispatchRequest& request,
              std::vector<Rejection>* rejections) {
  std::vector<Rejection> obstacles;
  const std::vector<Choice> all = candidates(problem, request, &obstacles);
  choice = {};
  for (const Choice& candidate : all) {
    if (choice.instance == nullptr || candidate.microseconds < choice.microseconds) {
      choice = candidate;
    }
  }
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
  if (obstacles.empty()) {
    return Status::refused(std::string("There is no instance '") + request.instance +
                           "'; ./tw list shows those that there are.");
  }
  // Types first: a kernel of the same types says more than another.
  const auto distance = [&](const Rejection& rejection) {
    const MatmulConfig& config = rejection.instance->config;
    return 8 * !runs_on(rejection.instance->target, request.target) +
           2 * (config.a_type != problem.a.type) + 2 * (config.b_type != problem.b.type) +
           2 * (config.d_type != problem.d.type) + (config.a_major != problem.a.major) +
           (config.b_major != problem.b.major);
  };
  const Rejection* nearest = &obstacles.front();
  for (const Rejection& rejection : obstacles) {
    if (distance(rejection) < distance(*nearest)) nearest = &rejection;
  }
  return Status::refused("No compiled kernel computes this product on " +
                         std::string(request.target) + ". The nearest, " + nearest->instance->name +
                         ": " + nearest->sentence);
}

}  // namespace tw
