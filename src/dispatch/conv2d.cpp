#include "src/dispatch/conv2d.h"

#include <cstring>

#include "src/dispatch/cost.h"
#include "tilewright/host/conv2d_check.h"

namespace tw {

namespace {

KernelFacts facts_of(const Conv2dInstance& instance) {
  return {
      .target = instance.target, .config = instance.config, .any_alignment = instance.by_threads};
}

// Of image and filter, each read once: the matmul's operands repeat the image.
double operand_bytes(const Conv2dProblem& problem) {
  const auto image = static_cast<double>(problem.n * problem.image_pixels() * problem.c);
  const auto filter =
      static_cast<double>(problem.k * problem.positions() * (problem.c / problem.groups));
  return (image + filter) * bytes_of(problem.type);
}

}  // namespace

std::vector<Conv2dChoice> candidates(const Conv2dProblem& problem, const DispatchRequest& request,
                                     std::vector<Conv2dRejection>* rejections) {
  std::vector<Conv2dChoice> found;
  const auto reject = [rejections](const Conv2dInstance& instance, const Status& status) {
    if (rejections != nullptr) rejections->push_back({&instance, status.sentence()});
  };
  for (const Conv2dInstance& instance : conv2d_instances()) {
    if (request.instance != nullptr && std::strcmp(instance.name, request.instance) != 0) continue;
    const KernelFacts facts = facts_of(instance);
    if (Status status = suits(facts, request); !status.is_good()) {
      reject(instance, status);
      continue;
    }
    // Before it is stated as a matmul: strides may be anything.
    const MatmulOrder usual = {.stream_k = instance.config.split == Split::Stream};
    if (Status status = instance.supports(problem, usual); !status.is_good()) {
      reject(instance, status);
      continue;
    }
    const MatmulProblem matmul =
        as_matmul(problem, instance.by_threads ? 1 : instance.config.tiling().k());
    std::vector<MatmulOrder> orders = orders_of(instance.config, matmul);
    if (orders.empty()) orders.push_back(usual);  // sums too short for parts
    for (const MatmulOrder& order : orders) {
      Status status = instance.supports(problem, order);
      if (status.is_good()) status = fits(instance.config, matmul, order, request);
      if (!status.is_good()) {
        reject(instance, status);
        continue;
      }
      found.push_back(
          {&instance, order,
           expected_microseconds(facts, matmul, order, request.sms, operand_bytes(problem))});
    }
  }
  return found;
}

Status choose(Conv2dChoice& choice, const Conv2dProblem& problem, const DispatchRequest& request,
              std::vector<Conv2dRejection>* rejections) {
  std::vector<Conv2dRejection> obstacles;
  choice = {};
  for (const Conv2dChoice& candidate : candidates(problem, request, &obstacles)) {
    if (choice.instance == nullptr || candidate.microseconds < choice.microseconds) {
      choice = candidate;
    }
  }
  if (rejections != nullptr) *rejections = obstacles;
  if (choice.instance != nullptr) return Status::good();
  if (obstacles.empty()) {
    return Status::refused(std::string("There is no instance '") + request.instance +
                           "' of conv2d; ./tw list shows those that there are.");
  }
  // Types first: a kernel of the same types says more than another.
  const auto distance = [&](const Conv2dRejection& rejection) {
    const MatmulConfig& config = rejection.instance->config;
    return 8 * !runs_on(rejection.instance->target, request.target) +
           4 * (direction_of(config) != problem.direction) + 2 * (config.a_type != problem.type) +
           (config.d_type != problem.d_type);
  };
  const Conv2dRejection* nearest = &obstacles.front();
  for (const Conv2dRejection& rejection : obstacles) {
    if (distance(rejection) < distance(*nearest)) nearest = &rejection;
  }
  return Status::refused("No compiled kernel computes this convolution on " +
                         std::string(request.target) + ". The nearest, " + nearest->instance->name +
                         ": " + nearest->sentence);
}

}  // namespace tw
