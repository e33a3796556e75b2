#include "src/dispatch/choose.h"

#include <cstring>

#include "src/dispatch/cost.h"

namespace tw {

namespace {

constexpr int most_parts = 16;

// The orders in which an instance may be launched, as far as they differ in cost.
std::vector<MatmulOrder> orders_of(const MatmulInstance& instance, const MatmulProblem& problem) {
  if (instance.config.split == Split::Stream) return {{.stream_k = true}};
  if (instance.config.split != Split::Parts) return {MatmulOrder{}};
  std::vector<MatmulOrder> orders;
  const std::int64_t stages = problem.k / instance.config.tiling().k();
  for (int parts = 2; parts <= most_parts && parts <= stages; ++parts) {
    orders.push_back({.split_k = parts});
  }
  return orders;
}

Status suits(const MatmulInstance& instance, const DispatchRequest& request) {
  if (std::strcmp(instance.target, request.target) != 0) {
    return Status::refused(std::string("It is compiled for ") + instance.target + ", not for " +
                           request.target + ".");
  }
  if (instance.config.tracing == Tracing::On) return Status::refused("It is traced.");
  if (!request.fast_accumulation && bytes_of(instance.config.a_type) == 1 &&
      !is_integer(instance.config.a_type) && instance.config.promote_every == 0) {
    return Status::refused("It adds up fp8 products in the tensor core's short sums.");
  }
  if (request.batch_invariant && instance.config.split != Split::Whole) {
    return Status::refused("It makes sums in parts, whose number depends on m.");
  }
  return Status::good();
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
    if (Status status = suits(instance, request); !status.is_good()) {
      reject(instance, status);
      continue;
    }
    for (const MatmulOrder& order : orders_of(instance, problem)) {
      if (Status status = instance.supports(problem, order); !status.is_good()) {
        reject(instance, status);
        break;
      }
      found.push_back(
          {&instance, order, expected_microseconds(instance, problem, order, request.sms)});
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
  if (rejections != nullptr) *rejections = obstacles;
  if (choice.instance != nullptr) return Status::good();
  if (obstacles.empty()) {
    return Status::refused(std::string("There is no instance '") + request.instance +
                           "'; ./tw list shows those that there are.");
  }
  // The last sentence is of a kernel for the right target, if there is one.
  const Rejection* nearest = &obstacles.front();
  for (const Rejection& rejection : obstacles) {
    if (std::strcmp(rejection.instance->target, request.target) == 0) nearest = &rejection;
  }
  return Status::refused("No compiled kernel computes this product on " +
                         std::string(request.target) + ". The nearest, " + nearest->instance->name +
                         ": " + nearest->sentence);
}

}  // namespace tw
