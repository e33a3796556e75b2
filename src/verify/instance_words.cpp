#include "src/verify/instance_words.h"

#include <fmt/format.h>

#include "src/instances/names.h"

namespace tw {

InstanceWords words_of(const MatmulConfig& config) {
  const auto of_output = [&config](unsigned m, unsigned n) {
    return config.tiling.swap_ab != 0 ? fmt::format("{}x{}", n, m) : fmt::format("{}x{}", m, n);
  };
  return {fmt::format("{} x {} -> {}", name_of(config.tiling.a_type), name_of(config.tiling.b_type),
                      name_of(config.d_type)),
          layout_name(config.tiling.a_major, config.tiling.b_major),
          of_output(config.tiling.m, config.tiling.n),
          of_output(config.tiling.cluster.m, config.tiling.cluster.n),
          config.consumers == Consumers::Cooperative ? "cooperative"
          : config.consumers == Consumers::PingPong  ? "ping-pong"
                                                     : "along k",
          config.split == Split::Whole     ? "whole"
          : config.split == Split::Parts   ? "split-k"
          : config.split == Split::Cluster ? "cluster"
                                           : "stream-k",
          config.scheduling == Scheduling::Static ? "static" : "dynamic"};
}

InstanceWords words_of(const Instance& instance) {
  InstanceWords words = words_of(config_of(instance));
  if (product_facts(instance).any_layout) words.layout = "any";
  return words;
}

}  // namespace tw
