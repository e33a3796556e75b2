#include "src/dispatch/launch_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "src/dispatch/choose_launch.h"

namespace tw {

namespace {

// The epilogue reads or writes more than vectors beside D.
bool moves_matrices(const EpilogueArguments& epilogue) {
  return (epilogue.source != nullptr && epilogue.beta != 0.0f) || epilogue.auxiliary != nullptr ||
         epilogue.gated;
}

}  // namespace

std::vector<LaunchOrder> orders_of(const MatmulConfig& config, const MatmulProblem& problem) {
  if (config.split == Split::Stream) return {{.stream_k = true}};
  if (config.split != Split::Parts) return {LaunchOrder{}};
  std::vector<LaunchOrder> orders;
  const std::int64_t stages = problem.k / config.tiling.k();
  // Many parts differ by little from one more.
  for (int parts = 2; parts <= 64 && parts <= stages; parts += std::max(1, parts / 8)) {
    orders.push_back({.split_k = parts});
  }
  return orders;
}

Status suits(const KernelFacts& kernel, const DispatchRequest& request) {
  const MatmulConfig& config = kernel.config;
  if (!runs_on(kernel.target, request.target, kernel.capability_end)) {
    return Status::refused(
        fmt::format("It is compiled for {}, not for {}.", kernel.target, request.target));
  }
  if (kernel.capability_end != 0 && request.capability >= kernel.capability_end &&
      !target_named(kernel.target)->by_ptx(request.capability)) {
    return Status::refused(
        fmt::format("It needs a compute capability below {}.{}; the device has {}.{}.",
                    kernel.capability_end / 10, kernel.capability_end % 10, request.capability / 10,
                    request.capability % 10));
  }
  if (request.instance != nullptr) return Status::good();
  // Sums in tensor memory are float32.
  const bool has_short_sums = kernel.target != std::string_view(target::sm100a.name);
  if (!request.fast_accumulation && has_short_sums && bytes_of(config.tiling.a_type) == 1 &&
      !is_integer(config.tiling.a_type) && config.promote_every == 0) {
    return Status::refused("It adds up fp8 products in the tensor core's short sums.");
  }
  if (request.batch_invariant && (config.split != Split::Whole || kernel.by_warps)) {
    return Status::refused("It makes sums in parts, whose number depends on m.");
  }
  return Status::good();
}

Status fits(const MatmulConfig& config, const MatmulProblem& problem, const LaunchOrder& order,
            const DispatchRequest& request) {
  if (config.split != Split::Parts && config.split != Split::Stream) return Status::good();
  const auto count = [](std::int64_t extent, std::int64_t tile) {
    return static_cast<double>((extent + tile - 1) / tile);
  };
  const ClusterShape& cluster = config.tiling.cluster;
  const double tiles = count(problem.m, config.tiling.m * cluster.m) *
                       count(problem.n, config.tiling.n * cluster.n) * cluster.size() *
                       static_cast<double>(problem.batch);
  const int kept = config.keeps_last_part() ? order.split_k : order.split_k - 1;
  const double slots = config.split == Split::Stream ? request.sms : tiles * kept;
  const double bytes =
      slots * config.tiling.m * config.tiling.n * 4 + static_cast<double>(workspace_counter_bytes);
  if (bytes > static_cast<double>(request.workspace_limit)) {
    return Status::refused(
        "Its workspace of " + std::to_string(static_cast<std::int64_t>(std::min(bytes, 0x1p62))) +
        " bytes is beyond the limit of " + std::to_string(request.workspace_limit) + ".");
  }
  return Status::good();
}

std::string call_of(const char* family, const MatmulProblem& problem) {
  if (problem.batch != 1 || problem.a.type != problem.b.type || problem.a.major != Major::K ||
      problem.b.major != Major::K || moves_matrices(problem.epilogue)) {
    return "";
  }
  return fmt::format("{} {} {}x{}x{}", family, name_of(problem.a.type), problem.m, problem.n,
                     problem.k);
}

std::string call_of(const Checked& problem) {
  const Description& description = problem.description();
  return description.is_tuned ? call_of(description.name, problem.product()) : "";
}

std::vector<const MeasuredLaunch*> measured_launches(const std::string& call,
                                                     const DispatchRequest& request) {
  std::vector<const MeasuredLaunch*> found;
  if (call.empty() || !request.by_table || request.device == nullptr ||
      request.instance != nullptr) {
    return found;
  }
  const auto search = [&](const MeasuredTable& table) {
    for (const MeasuredLaunch& known : table.launches) {
      if (known.call == call) found.push_back(&known);
    }
  };
  if (request.own_table != nullptr) search(*request.own_table);
  for (const MeasuredTable& table : compiled_tables()) {
    if (std::string_view(request.device).starts_with(table.device)) search(table);
  }
  return found;
}

LaunchChoice best_of(const std::vector<LaunchChoice>& all,
                     const std::vector<const MeasuredLaunch*>& measured) {
  for (const MeasuredLaunch* known : measured) {
    for (LaunchChoice one : all) {
      if (one.instance->name != known->instance || one.order.split_k != known->split_k) continue;
      one.order.group = known->group;
      one.order.raster = known->raster;
      one.measured = true;
      return one;
    }
  }
  LaunchChoice best;
  for (const LaunchChoice& one : all) {
    if (best.instance == nullptr || one.microseconds < best.microseconds) best = one;
  }
  return best;
}

}  // namespace tw
