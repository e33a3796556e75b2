#include <cmath>
#include <cstring>

#include "src/families/attention.h"
#include "tilewright/family/attention/launch.h"

namespace tw {

namespace {

// Products are padded to whole tiles and blocks; what a block costs beside them is as long as the
// products of `beside` keys. The last CTA counts: they take tiles in turn.
double expected_time(const AttentionConfig& config, const tw_attention_problem& problem,
                     unsigned sms, bool is_native) {
  constexpr double beside = 12;
  // In a microsecond. Kernels of an older device are slow, and none of them waits for memory.
  const double flop_of_sm = is_native ? 4.5e6 : 0.7e6;
  const auto work = static_cast<double>(attention_work(problem, config));
  if (config.part_blocks != 0) {
    // Keys and values come once for all heads that share them.
    constexpr double bytes_of_sm = 30e3;  // in a microsecond
    const double part = config.part_blocks * config.keys;
    const double elements = std::min(static_cast<double>(problem.keys), part) *
                            (config.head_columns() + config.tiling.n);
    const double time =
        is_native ? 2 * elements / bytes_of_sm : 2 * elements * config.tiling.m / flop_of_sm;
    return std::ceil(work / std::max(sms, 1u)) * (1 + time);
  }
  double keys = static_cast<double>(problem.keys) * (problem.causal != 0 ? 0.5 : 1.0);
  if (problem.window > 0) keys = std::min(keys, static_cast<double>(problem.window));
  const double blocks = std::ceil(keys / config.keys) + (problem.causal != 0 ? 0.5 : 0.0);
  const double tile_time = blocks * (config.keys + beside) * config.tiling.m * 2 *
                           (config.head_columns() + config.tiling.n) / flop_of_sm;
  return std::ceil(work / std::max(sms, 1u)) * tile_time;
}

}  // namespace

Status choose_attention(LaunchChoice& choice, const Checked& problem,
                        const DispatchRequest& request, std::vector<LaunchRejection>* rejections) {
  std::string nearest = "There is none for this device.";
  unsigned fewest = 0;  // obstacles; those of the nearest
  // The best that has all keys in one tile, and the best that has them in parts.
  LaunchChoice best[2] = {};
  for (const Instance& instance : attention_instances()) {
    if (request.instance != nullptr && std::strcmp(instance.name, request.instance) != 0) continue;
    if (!runs_on(instance.target, request.target)) continue;
    const Status status = instance.supports(problem, {});
    if (!status.is_good()) {
      if (fewest == 0 || status.obstacles() < fewest) {
        nearest = sentence("The nearest, {}: {}", instance.name, status.sentence());
        fewest = status.obstacles();
      }
      if (rejections != nullptr) rejections->push_back({&instance, status.sentence()});
      continue;
    }
    const auto& config = *static_cast<const AttentionConfig*>(instance.facts);
    const bool is_native = std::strcmp(instance.target, request.target) == 0;
    const double time =
        expected_time(config, problem.as<tw_attention_problem>(), request.sms, is_native);
    // A kernel of the device itself goes before one of an older one that does the same.
    LaunchChoice& of_kind = best[config.part_blocks != 0 ? 1 : 0];
    const bool best_is_native =
        of_kind.instance != nullptr && std::strcmp(of_kind.instance->target, request.target) == 0;
    if (of_kind.instance == nullptr || (is_native && !best_is_native) ||
        (is_native == best_is_native && time < of_kind.microseconds)) {
      of_kind = {&instance, {}, time, false};
    }
  }
  const bool takes_parts =
      best[1].instance != nullptr &&
      (best[0].instance == nullptr || best[1].microseconds < best[0].microseconds);
  choice = best[takes_parts ? 1 : 0];
  if (choice.instance != nullptr) return Status::good();
  return Status::refused(sentence("No compiled kernel {} on {}. {}", problem.description().does,
                                  request.target, nearest));
}

}  // namespace tw
