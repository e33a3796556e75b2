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

Status choose(Choice& choice, const MatmulProblem& problem, const DispatchRequest& request,
              std::vector<Rejection>* rejections) {
  const auto reject = [rejections](const MatmulInstance& instance, const Status& status) {
    if (rejections != nullptr) rejections->push_back({&instance, status.sentence()});
  };
  choice = {};
  bool named = request.instance == nullptr;
  std::string nearest;
  for (const MatmulInstance& instance : matmul_instances()) {
    if (request.instance != nullptr) {
      if (std::strcmp(instance.name, request.instance) != 0) continue;
      named = true;
    }
    if (Status status = suits(instance, request); !status.is_good()) {
      reject(instance, status);
      nearest = nearest.empty() ? status.sentence() : nearest;
      continue;
    }
    for (const MatmulOrder& order : orders_of(instance, problem)) {
      if (Status status = instance.supports(problem, order); !status.is_good()) {
        reject(instance, status);
        nearest = status.sentence();
        break;
      }
      const double expected = expected_microseconds(instance, problem, order, request.sms);
      if (choice.instance == nullptr || expected < choice.microseconds) {
        choice = {&instance, order, expected};
      }
    }
  }
  if (!named) {
    return Status::refused(std::string("There is no instance '") + request.instance +
                           "'; ./tw list shows those that there are.");
  }
  if (choice.instance != nullptr) return Status::good();
  return Status::refused("No compiled kernel computes this product on " +
                         std::string(request.target) + ": " + nearest);
}

}  // namespace tw
