#include "tests/families/task.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/instances/names.h"
#include "src/verify/data.h"
#include "src/verify/random_epilogue.h"
#include "src/verify/stated.h"

namespace tw {

MatmulShape usual_shape(const Instance& instance) {
  MatmulShape shape;
  shape.a_type = config_of(instance).tiling.a_type;
  shape.b_type = config_of(instance).tiling.b_type;
  shape.d_type = config_of(instance).d_type;
  shape.a_major = config_of(instance).tiling.a_major;
  shape.b_major = config_of(instance).tiling.b_major;
  return shape;
}

LaunchOrder usual_order(const Instance& instance) {
  LaunchOrder order;
  order.stream_k = config_of(instance).split == Split::Stream;
  return order;
}

std::int64_t fitting_rows(const Instance& instance, std::int64_t rows) {
  const std::int64_t few = config_of(instance).tiling.loaded_rows;
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

Status serves(const Instance& instance, const MatmulShape& shape, const LaunchOrder& order) {
  const MatmulConfig& config = config_of(instance);
  const auto refused = [](const std::string& what) { return Status::refused("It " + what + "."); };
  if (config.tiling.a_type != shape.a_type || config.tiling.b_type != shape.b_type ||
      config.d_type != shape.d_type) {
    return refused(fmt::format("multiplies {} by {} into {}, not {} by {} into {}",
                               name_of(config.tiling.a_type), name_of(config.tiling.b_type),
                               name_of(config.d_type), name_of(shape.a_type), name_of(shape.b_type),
                               name_of(shape.d_type)));
  }
  if (!product_facts(instance).any_layout &&
      (config.tiling.a_major != shape.a_major || config.tiling.b_major != shape.b_major)) {
    return refused(fmt::format("takes the layout {}, not {}",
                               layout_name(config.tiling.a_major, config.tiling.b_major),
                               layout_name(shape.a_major, shape.b_major)));
  }
  if (shape.unaligned && !product_facts(instance).any_alignment) {
    return refused("needs lines of memory that begin at multiples of 16 bytes");
  }
  if (order.split_k > 1 && config.split != Split::Parts) {
    return refused(
        fmt::format("makes sums {}, not in {} parts", words_of(instance).sums, order.split_k));
  }
  if (order.stream_k != (config.split == Split::Stream)) {
    return refused(order.stream_k ? "does not take --stream-k" : "takes --stream-k only");
  }
  const StatedMatmul stated(problem_without_memory(shape));
  return stated.status().is_good() ? instance.supports(stated.checked(), {order}) : stated.status();
}

MatmulTask random_task(const Instance& instance, int largest, std::mt19937_64& random) {
  Dice dice(random);
  MatmulTask task;
  task.instance = &instance;
  task.fill = dice.one_in(5) ? Fill::Position : Fill::Integers;
  task.seed = random() % 1000000;
  MatmulShape& shape = task.shape = usual_shape(instance);
  shape.m = dice.extent(fitting_rows(instance, largest));
  shape.n = dice.extent(largest);
  shape.k = dice.extent(largest);
  if (dice.one_in(4)) shape.batch = 1 + dice.up_to(2);
  shape.shared_b = shape.batch > 1 && dice.one_in(3);
  shape.unaligned = product_facts(instance).any_alignment && dice.one_in(2);
  if (product_facts(instance).any_layout) {
    constexpr Major majors[] = {Major::K, Major::MN};
    shape.a_major = dice.one_of(majors);
    shape.b_major = dice.one_of(majors);
  }
  shape.epilogue = random_epilogue(dice);
  if (config_of(instance).c_stages != 0) {
    shape.epilogue.source_type = shape.d_type;
    if (shape.epilogue.beta != 0.0f) shape.epilogue.gated = false;
  }
  if (shape.epilogue.gated) shape.n -= shape.n % 2;
  shape.epilogue.output_scale = fitting_output_scale(shape, task.fill);
  if (config_of(instance).plain_epilogue != 0) shape.epilogue = {.alpha = shape.epilogue.alpha};
  task.order = usual_order(instance);
  task.order.group = static_cast<int>(random() % 5);
  task.order.raster = dice.one_in(2) ? Raster::AlongM : Raster::AlongN;
  if (config_of(instance).split == Split::Parts) {
    int& parts = task.order.split_k = static_cast<int>(dice.up_to(6));
    // Large problems have no room to count that many.
    while (parts > 1 && !serves(instance, shape, task.order).is_good()) --parts;
  }
  return task;
}

}  // namespace tw
