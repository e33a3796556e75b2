#include "src/dispatch/attention.h"

#include <cmath>
#include <cstring>

#include "tilewright/host/attention.h"

namespace tw {

namespace {

// Products are padded to whole tiles and blocks; what a block costs beside them is as long as the
// products of `beside` keys. The last CTA counts: they take tiles in turn.
double expected_time(const AttentionConfig& config, const tw_attention_problem& problem,
                     unsigned sms) {
  constexpr double beside = 12;
  constexpr double flop_of_sm = 4.5e6;  // in a microsecond
  const auto work = static_cast<double>(attention_work(problem, config));
  if (config.part_blocks != 0) {
    // Keys and values come once for all heads that share them.
    constexpr double bytes_of_sm = 30e3;  // in a microsecond
    const double part = config.part_blocks * config.keys;
    const double bytes = std::min(static_cast<double>(problem.keys), part) * 2 *
                         (config.head_columns() + config.tiling.n);
    return std::ceil(work / std::max(sms, 1u)) * (1 + bytes / bytes_of_sm);
  }
  double keys = static_cast<double>(problem.keys) * (problem.causal != 0 ? 0.5 : 1.0);
  if (problem.window > 0) keys = std::min(keys, static_cast<double>(problem.window));
  const double blocks = std::ceil(keys / config.keys) + (problem.causal != 0 ? 0.5 : 0.0);
  const double tile_time = blocks * (config.keys + beside) * config.tiling.m * 2 *
                           (config.head_columns() + config.tiling.n) / flop_of_sm;
  return std::ceil(work / std::max(sms, 1u)) * tile_time;
}

}  // namespace

Status choose_attention(LaunchChoice<Instance>& choice, const Checked& problem,
                        const DispatchRequest& request,
                        std::vector<LaunchRejection<Instance>>* rejections) {
  std::string nearest = "There is none for this device.";
  choice = {};
  for (const Instance& instance : attention_instances()) {
    if (request.instance != nullptr && std::strcmp(instance.name, request.instance) != 0) continue;
    if (!runs_on(instance.target, request.target)) continue;
    const Status status = instance.supports(problem, {});
    if (!status.is_good()) {
      nearest = std::string(instance.name) + ": " + status.sentence();
      if (rejections != nullptr) rejections->push_back({&instance, status.sentence()});
      continue;
    }
    const auto& config = *static_cast<const AttentionConfig*>(instance.facts);
    const double time = expected_time(config, problem.as<tw_attention_problem>(), request.sms);
    // A kernel of the device itself goes before one of an older one.
    const bool is_native = std::strcmp(instance.target, request.target) == 0;
    const bool best_is_native =
        choice.instance != nullptr && std::strcmp(choice.instance->target, request.target) == 0;
    if (choice.instance == nullptr || (is_native && !best_is_native) ||
        (is_native == best_is_native && time < choice.microseconds)) {
      choice = {&instance, {}, time, false};
    }
  }
  if (choice.instance != nullptr) return Status::good();
  return Status::refused(sentence("No compiled kernel {} on {}. {}", problem.description().does,
                                  request.target, nearest));
}

}  // namespace tw
