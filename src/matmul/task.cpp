#include "src/matmul/task.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/matmul/data.h"
#include "src/matmul/names.h"

namespace tw {

std::optional<ElementType> element_type_of(const std::string& name) {
  for (const ElementType type : element_types) {
    if (name == name_of(type)) return type;
  }
  return std::nullopt;
}

std::string epilogue_words(const EpilogueShape& epilogue) {
  std::string words;
  const auto add = [&words](const char* word) {
    if (!words.empty()) words += ',';
    words += word;
  };
  for (const auto& [name, present] : epilogue_switches) {
    if (epilogue.*present) add(name);
  }
  if (epilogue.activation != Activation::None) add(name_of(epilogue.activation));
  return words;
}

InstanceWords words_of(const MatmulConfig& config) {
  return {fmt::format("{} x {} -> {}", name_of(config.a_type), name_of(config.b_type),
                      name_of(config.d_type)),
          layout_name(config.a_major, config.b_major),
          fmt::format("{}x{}", config.tile_m, config.tile_n),
          fmt::format("{}x{}", config.cluster.m, config.cluster.n),
          config.consumers == Consumers::Cooperative ? "cooperative" : "ping-pong",
          config.split == Split::Whole     ? "whole"
          : config.split == Split::Parts   ? "split-k"
          : config.split == Split::Cluster ? "cluster"
                                           : "stream-k",
          config.scheduling == Scheduling::Static ? "static" : "dynamic"};
}

MatmulShape usual_shape(const MatmulInstance& instance) {
  MatmulShape shape;
  shape.a_type = instance.config.a_type;
  shape.b_type = instance.config.b_type;
  shape.d_type = instance.config.d_type;
  shape.a_major = instance.config.a_major;
  shape.b_major = instance.config.b_major;
  return shape;
}

MatmulOrder usual_order(const MatmulInstance& instance) {
  MatmulOrder order;
  order.stream_k = instance.config.split == Split::Stream;
  return order;
}

std::int64_t fitting_rows(const MatmulInstance& instance, std::int64_t rows) {
  const std::int64_t few = instance.config.few_rows;
  return few == 0 ? rows : std::min(rows, few);
}

std::string run_line(const MatmulTask& task) {
  const MatmulShape& shape = task.shape;
  const EpilogueShape& epilogue = shape.epilogue;
  std::string line = fmt::format(
      "./tw run matmul --arch {} --instance {} --m {} --n {} --k {} --a-type {} --b-type {} "
      "--d-type {} --layout {}",
      task.instance->target, task.instance->name, shape.m, shape.n, shape.k, name_of(shape.a_type),
      name_of(shape.b_type), name_of(shape.d_type), layout_name(shape.a_major, shape.b_major));
  const auto add = [&line](bool wanted, const std::string& words) {
    if (wanted) line.append(" ").append(words);
  };
  add(shape.batch != 1, fmt::format("--batch {}", shape.batch));
  add(shape.shared_b, "--shared-b");
  add(shape.unaligned, "--unaligned");
  add(epilogue.alpha != 1.0f, fmt::format("--alpha {}", epilogue.alpha));
  add(epilogue.beta != 0.0f,
      fmt::format("--beta {} --source-type {}", epilogue.beta, name_of(epilogue.source_type)));
  const std::string words = epilogue_words(epilogue);
  add(!words.empty(), "--epilogue " + words);
  add(epilogue.activation == Activation::Clamp,
      fmt::format("--clamp-low {} --clamp-high {}", epilogue.clamp_low, epilogue.clamp_high));
  add(epilogue.column_bias || epilogue.row_bias,
      fmt::format("--bias-type {}", name_of(epilogue.bias_type)));
  add(epilogue.auxiliary, fmt::format("--auxiliary-type {}", name_of(epilogue.auxiliary_type)));
  add(epilogue.output_scale != 1.0f, fmt::format("--output-scale {}", epilogue.output_scale));
  add(task.order.split_k != 1, fmt::format("--split-k {}", task.order.split_k));
  add(task.order.stream_k, "--stream-k");
  add(task.order.group != 0, fmt::format("--group {}", task.order.group));
  add(task.order.raster == Raster::AlongN, "--raster n");
  return line + fmt::format(" --data {} --seed {}", name_of(task.fill), task.seed);
}

Status serves(const MatmulInstance& instance, const MatmulShape& shape, const MatmulOrder& order) {
  const MatmulConfig& config = instance.config;
  const auto refused = [](const std::string& what) { return Status::refused("It " + what + "."); };
  if (config.a_type != shape.a_type || config.b_type != shape.b_type ||
      config.d_type != shape.d_type) {
    return refused(fmt::format("multiplies {} by {} into {}, not {} by {} into {}",
                               name_of(config.a_type), name_of(config.b_type),
                               name_of(config.d_type), name_of(shape.a_type), name_of(shape.b_type),
                               name_of(shape.d_type)));
  }
  if (config.a_major != shape.a_major || config.b_major != shape.b_major) {
    return refused(fmt::format("takes the layout {}, not {}",
                               layout_name(config.a_major, config.b_major),
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
