#include "src/matmul/task.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/matmul/data.h"
#include "src/matmul/names.h"

namespace tw {

InstanceWords words_of(const MatmulConfig& config) {
  const auto of_output = [&config](unsigned m, unsigned n) {
    return config.tiling.exchanged != 0 ? fmt::format("{}x{}", n, m) : fmt::format("{}x{}", m, n);
  };
  return {fmt::format("{} x {} -> {}", name_of(config.tiling.a_type), name_of(config.tiling.b_type),
                      name_of(config.d_type)),
          layout_name(config.tiling.a_major, config.tiling.b_major),
          of_output(config.tiling.m, config.tiling.n),
          of_output(config.tiling.cluster.m, config.tiling.cluster.n),
          config.consumers == Consumers::Cooperative ? "cooperative" : "ping-pong",
          config.split == Split::Whole     ? "whole"
          : config.split == Split::Parts   ? "split-k"
          : config.split == Split::Cluster ? "cluster"
                                           : "stream-k",
          config.scheduling == Scheduling::Static ? "static" : "dynamic"};
}

InstanceWords words_of(const MatmulInstance& instance) {
  InstanceWords words = words_of(instance.config);
  if (instance.any_layout) words.layout = "any";
  return words;
}

MatmulShape usual_shape(const MatmulInstance& instance) {
  MatmulShape shape;
  shape.a_type = instance.config.tiling.a_type;
  shape.b_type = instance.config.tiling.b_type;
  shape.d_type = instance.config.d_type;
  shape.a_major = instance.config.tiling.a_major;
  shape.b_major = instance.config.tiling.b_major;
  return shape;
}

MatmulOrder usual_order(const MatmulInstance& instance) {
  MatmulOrder order;
  order.stream_k = instance.config.split == Split::Stream;
  return order;
}

std::int64_t fitting_rows(const MatmulInstance& instance, std::int64_t rows) {
  const std::int64_t few = instance.config.tiling.loaded_rows;
  return few == 0 ? rows : std::min(rows, few);
}

std::string run_line(const MatmulTask& task) {
  const MatmulShape& shape = task.shape;
  std::string line =
      fmt::format(
          "./tw run matmul --arch {} --instance {} --a-type {} --b-type {} --d-type {} "
          "--layout {}",
          task.instance->target, task.instance->name, name_of(shape.a_type), name_of(shape.b_type),
          name_of(shape.d_type), layout_name(shape.a_major, shape.b_major)) +
      shape_words(shape);
  const auto add = [&line](bool wanted, const std::string& words) {
    if (wanted) line.append(" ").append(words);
  };
  add(task.order.split_k != 1, fmt::format("--split-k {}", task.order.split_k));
  add(task.order.stream_k, "--stream-k");
  add(task.order.group != 0, fmt::format("--group {}", task.order.group));
  add(task.order.raster == Raster::AlongN, "--raster n");
  return line + fmt::format(" --data {} --seed {}", name_of(task.fill), task.seed);
}

Status serves(const MatmulInstance& instance, const MatmulShape& shape, const MatmulOrder& order) {
  const MatmulConfig& config = instance.config;
  const auto refused = [](const std::string& what) { return Status::refused("It " + what + "."); };
  if (config.tiling.a_type != shape.a_type || config.tiling.b_type != shape.b_type ||
      config.d_type != shape.d_type) {
    return refused(fmt::format("multiplies {} by {} into {}, not {} by {} into {}",
                               name_of(config.tiling.a_type), name_of(config.tiling.b_type),
                               name_of(config.d_type), name_of(shape.a_type), name_of(shape.b_type),
                               name_of(shape.d_type)));
  }
  if (!instance.any_layout &&
      (config.tiling.a_major != shape.a_major || config.tiling.b_major != shape.b_major)) {
    return refused(fmt::format("takes the layout {}, not {}",
                               layout_name(config.tiling.a_major, config.tiling.b_major),
                               layout_name(shape.a_major, shape.b_major)));
  }
  if (shape.unaligned && !instance.any_alignment) {
    return refused("needs lines of memory that begin at multiples of 16 bytes");
  }
  if (order.split_k > 1 && config.split != Split::Parts) {
    return refused(
        fmt::format("makes sums {}, not in {} parts", words_of(instance).sums, order.split_k));
  }
  if (order.stream_k != (config.split == Split::Stream)) {
    return refused(order.stream_k ? "does not take --stream-k" : "takes --stream-k only");
  }
  return instance.supports(problem_without_memory(shape), order);
}

}  // namespace tw
