#include "src/cli/choose_instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/cli/family_of.h"
#include "src/matmul/names.h"
#include "src/run/matmul.h"
#include "tilewright/host/targets.h"

namespace tw::cli {

namespace {

// The target of a plain request.
std::string target_of(const Wish& wish) {
  if (!wish.arch.empty()) return wish.arch;
  const Instance* named = instance_named(wish.instance);
  return named != nullptr ? named->target : usual_target;
}

// What keeps an instance from serving, one entry each.
std::vector<std::string> obstacles(const Instance& instance, const Wish& wish,
                                   const MatmulShape& shape, const MatmulOrder& order) {
  std::vector<std::string> found;
  const InstanceWords words = words_of(instance);
  const auto expect = [&found](const char* option, const std::string& wanted,
                               const std::string& has) {
    if (!wanted.empty() && wanted != has) found.push_back(fmt::format("--{} {}", option, has));
  };
  expect("arch", target_of(wish), instance.target);
  expect("instance", wish.instance, instance.name);
  expect("tile", wish.tile, words.tile);
  expect("cluster", wish.cluster, words.cluster);
  expect("consumers", wish.consumers, words.consumers);
  const MatmulConfig& config = config_of(instance);
  expect("a-type", name_of(shape.a_type), name_of(config.tiling.a_type));
  expect("b-type", name_of(shape.b_type), name_of(config.tiling.b_type));
  expect("d-type", name_of(shape.d_type), name_of(config.d_type));
  if (!product_facts(instance).any_layout) {
    expect("layout", layout_name(shape.a_major, shape.b_major), words.layout);
  }
  if (found.empty()) {
    if (Status status = serves(instance, shape, order); !status.is_good()) {
      found.push_back(status.sentence());
    }
  }
  return found;
}

std::string asked_for(const Wish& wish, const MatmulShape& shape, const MatmulOrder& order) {
  std::string text = fmt::format("{} by {} into {}, layout {}, on {}", name_of(shape.a_type),
                                 name_of(shape.b_type), name_of(shape.d_type),
                                 layout_name(shape.a_major, shape.b_major), target_of(wish));
  const auto add = [&text](const char* option, const std::string& value) {
    if (!value.empty()) text += fmt::format(", --{} '{}'", option, value);
  };
  add("instance", wish.instance);
  add("tile", wish.tile);
  add("cluster", wish.cluster);
  add("consumers", wish.consumers);
  if (wish.tracing == Tracing::On) text += ", traced";
  if (shape.unaligned) text += ", --unaligned";
  if (order.split_k > 1) text += fmt::format(", --split-k {}", order.split_k);
  if (order.stream_k) text += ", --stream-k";
  return text;
}

}  // namespace

const Instance* instance_named(const std::string& name) {
  for (const Instance& instance : matmul_trial.instances()) {
    if (name == instance.name) return &instance;
  }
  return nullptr;
}

Status check_words(const Wish& wish) {
  if (!wish.arch.empty() && target_named(wish.arch) == nullptr) {
    return Status::refused(no_target(wish.arch));
  }
  if (!wish.instance.empty() && instance_named(wish.instance) == nullptr) {
    return Status::refused(
        no_instance(wish.instance, "matmul",
                    fmt::format("There is no instance '{}'; ./tw list shows those that there are.",
                                wish.instance)));
  }
  if (!wish.consumers.empty() && wish.consumers != "cooperative" && wish.consumers != "ping-pong") {
    return Status::refused(
        fmt::format("--consumers is '{}', but must be cooperative or ping-pong.", wish.consumers));
  }
  return Status::good();
}

Result<const Instance*> choose_instance(const Wish& wish, const MatmulShape& shape,
                                        const MatmulOrder& order) {
  struct Near {
    const Instance* instance;
    std::vector<std::string> obstacles;
  };
  std::vector<Near> near;
  for (const Instance& instance : matmul_trial.instances()) {
    if (config_of(instance).tracing != wish.tracing) continue;
    near.push_back({&instance, obstacles(instance, wish, shape, order)});
    if (near.back().obstacles.empty()) return {Status::good(), &instance};
  }
  std::stable_sort(near.begin(), near.end(), [](const Near& first, const Near& second) {
    return first.obstacles.size() < second.obstacles.size();
  });
  std::string text =
      fmt::format("No instance serves {}. The nearest:", asked_for(wish, shape, order));
  for (std::size_t i = 0; i < std::min<std::size_t>(near.size(), 5); ++i) {
    text += fmt::format("\n  {}: {}", near[i].instance->name, fmt::join(near[i].obstacles, " "));
  }
  return {Status::refused(text), std::nullopt};
}

}  // namespace tw::cli
