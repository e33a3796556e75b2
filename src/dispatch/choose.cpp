#include "src/dispatch/choose.h"

#include <cstring>

#include "src/dispatch/cost.h"
#include "src/dispatch/measured.h"

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

// sm_80's kernels are compiled for Hopper, too.
bool runs_on(const char* target, const char* device) {
  return std::strcmp(target, device) == 0 ||
         (std::strcmp(target, "sm80") == 0 && std::strcmp(device, "sm90a") == 0);
}

Status suits(const MatmulInstance& instance, const DispatchRequest& request) {
  const MatmulConfig& config = instance.config;
  if (!runs_on(instance.target, request.target)) {
    return Status::refused(std::string("It is compiled for ") + instance.target + ", not for " +
                           request.target + ".");
  }
  if (request.instance != nullptr) return Status::good();
  if (config.tracing == Tracing::On) return Status::refused("It is traced.");
  if (instance.is_step) return Status::refused("It is a step of the ladder.");
  if (!request.fast_accumulation && bytes_of(config.a_type) == 1 && !is_integer(config.a_type) &&
      config.promote_every == 0) {
    return Status::refused("It adds up fp8 products in the tensor core's short sums.");
  }
  if (request.batch_invariant && config.split != Split::Whole) {
    return Status::refused("It makes sums in parts, whose number depends on m.");
  }
  return Status::good();
}

// Parts of sums that lie in the workspace; whether they can be counted, supports() says.
Status fits(const MatmulInstance& instance, const MatmulProblem& problem, const MatmulOrder& order,
            const DispatchRequest& request) {
  const MatmulConfig& config = instance.config;
  if (config.split != Split::Parts && config.split != Split::Stream) return Status::good();
  const auto count = [](std::int64_t extent, std::int64_t tile) {
    return static_cast<double>((extent + tile - 1) / tile);
  };
  const ClusterShape& cluster = config.cluster;
  const double tiles = count(problem.m, config.tile_m * cluster.m) *
                       count(problem.n, config.tile_n * cluster.n) * cluster.size() *
                       static_cast<double>(problem.batch);
  const double slots = config.split == Split::Stream ? request.sms : tiles * (order.split_k - 1);
  const double bytes =
      slots * config.tile_m * config.tile_n * 4 + static_cast<double>(workspace_counter_bytes);
  if (bytes > static_cast<double>(request.workspace_limit)) {
    return Status::refused("Its workspace of " + std::to_string(static_cast<std::int64_t>(bytes)) +
                           " bytes is beyond the limit of " +
                           std::to_string(request.workspace_limit) + ".");
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
      if (Status status = fits(instance, problem, order, request); !status.is_good()) {
        reject(instance, status);
        continue;
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
