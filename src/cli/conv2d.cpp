// ./tw run conv2d and ./tw check conv2d, on the virtual GPU.
#include "src/dispatch/conv2d.h"

#include <fmt/format.h>

#include <sstream>

#include "src/cli/family_request.h"
#include "src/cli/number_list.h"
#include "src/conv2d/task.h"
#include "src/matmul/names.h"

namespace tw::cli {

namespace {

constexpr const char* meaning = "a convolution, or a gradient of one";

struct Conv2dRequest : FamilyRequest {
  std::string direction = "forward";
  int split_k = 0;
  std::int64_t n = 2;
  std::int64_t c = 64;
  std::int64_t k = 64;
  std::int64_t groups = 1;
  std::int64_t h = 14;
  std::int64_t w = 14;
  std::int64_t r = 3;
  std::int64_t s = 3;
  std::int64_t depth = 1;
  std::int64_t t = 1;
  // Along h and w, or one for both; with the depth first; padding may be top, bottom, left, right,
  // and before these front, back.
  std::vector<std::int64_t> stride = {1};
  std::vector<std::int64_t> dilation = {1};
  std::vector<std::int64_t> pad = {1};
  std::string epilogue;

  void run(Verdict& verdict) const;

  void add_options(CLI::App& command) {
    add_instance_options(command, "the first of target and direction that can");
    command.add_option("--direction", direction, "forward, dgrad (of the image) or wgrad")
        ->check(CLI::IsMember({"forward", "dgrad", "wgrad"}))
        ->capture_default_str();
    command.add_option("--split-k", split_k, "parts of a sum, of wgrad; 0: as the library chooses")
        ->check(CLI::Range(0, 1024))
        ->capture_default_str();
    command.add_option("--n", n, "images")->capture_default_str();
    command.add_option("--c", c, "channels of the image")->capture_default_str();
    command.add_option("--k", k, "channels of the output")->capture_default_str();
    command.add_option("--groups", groups, "of channels, that see only each other")
        ->capture_default_str();
    // From 2.4 on CLI11 takes --h for -h.
    command.set_help_flag("--help", "Print this help message and exit");
    command.add_option("--h", h, "height of the image")->capture_default_str();
    command.add_option("--w", w, "width of the image")->capture_default_str();
    command.add_option("--r", r, "height of the filter")->capture_default_str();
    command.add_option("--s", s, "width of the filter")->capture_default_str();
    command.add_option("--depth", depth, "depth of the image")->capture_default_str();
    command.add_option("--t", t, "depth of the filter")->capture_default_str();
    add_number_list(command, "--stride", stride, "of h and w, of h,w or of depth,h,w", 3);
    add_number_list(command, "--dilation", dilation, "of h and w, of h,w or of depth,h,w", 3);
    add_number_list(command, "--pad", pad,
                    "of h and w, of h,w, top,bottom,left,right or front,back,top,...", 6);
    command.add_option("--epilogue", epilogue, "comma-separated: bias, relu, residual");
    add_data_options(command);
  }

  // The instance of that name, or the first of the target that supports the shape; the shape gets
  // its types.
  Result<const Conv2dInstance*> choose(Conv2dShape& shape) const {
    std::string known;
    Status refusal = Status::good();
    for (const Conv2dInstance& candidate : conv2d_instances()) {
      const Conv2dDirection makes = direction_of(candidate.config);
      known += fmt::format(" {} ({}, {})", candidate.name, candidate.target, name_of(makes));
      if (direction != name_of(makes)) continue;
      if (!names(candidate.name, candidate.target)) continue;
      shape.type = candidate.config.tiling.a_type;
      shape.d_type = candidate.config.d_type;
      shape.direction = makes;
      if (shape.epilogue.beta != 0.0f) shape.epilogue.source_type = shape.d_type;
      refusal = supports(candidate, shape);
      if (refusal.is_good()) return {refusal, &candidate};
    }
    if (!refusal.is_good()) return {refusal, std::nullopt};
    const std::string usual = "There is no such instance of conv2d; there are" + known + ".";
    return {Status::refused(no_instance(instance, "conv2d", usual)), std::nullopt};
  }

  // A sentence, or empty.
  std::string fill_shape(Conv2dShape& shape) const {
    if (pad.size() % 2 == 1 && pad.size() > 1) {
      return fmt::format("--pad has {} numbers, but must have 1, 2, 4 or 6.", pad.size());
    }
    if (n < 0 || n > 65536 || k < 0 || k > 65536 || c > 65536 || h > 65536 || w > 65536 ||
        depth > 65536) {
      return "--n, --c, --k, --h, --w and --depth must be at most 65536.";
    }
    shape.n = n;
    shape.c = c;
    shape.k = k;
    shape.groups = groups;
    // The last ones are w's and, of more than one, those before h's.
    const auto before_last = [](const std::vector<std::int64_t>& numbers, std::size_t i) {
      return numbers[numbers.size() > i ? numbers.size() - 1 - i : 0];
    };
    const std::size_t sides = pad.size() >= 4 ? 1 : 0;
    shape.w = {w, s, stride.back(), dilation.back(), before_last(pad, sides), pad.back()};
    shape.h = {h,
               r,
               before_last(stride, 1),
               before_last(dilation, 1),
               before_last(pad, 1 + 2 * sides),
               before_last(pad, 1 + sides)};
    shape.depth = {depth,
                   t,
                   stride.size() == 3 ? stride[0] : 1,
                   dilation.size() == 3 ? dilation[0] : 1,
                   pad.size() == 6 ? pad[0] : 0,
                   pad.size() == 6 ? pad[1] : 0};
    std::stringstream nodes(epilogue);
    for (std::string node; std::getline(nodes, node, ',');) {
      if (node == "bias") {
        shape.epilogue.column_bias = true;
      } else if (node == "relu") {
        shape.epilogue.activation = Activation::Relu;
      } else if (node == "residual") {
        shape.epilogue.beta = 1.0f;
      } else {
        return fmt::format("There is no epilogue '{}'; there are bias, relu and residual.", node);
      }
    }
    return "";
  }
};

void Conv2dRequest::run(Verdict& verdict) const {
  Conv2dShape shape;
  MatmulOrder order;
  const std::string wrong = fill_shape(shape);
  if (!wrong.empty()) return verdict.refuse(wrong);
  const Result<const Conv2dInstance*> chosen = choose(shape);
  if (!chosen.status.is_good()) return verdict.refuse(chosen.status.sentence());
  const Conv2dInstance& instance = **chosen.value;
  const Fill fill = fill_named(data);
  const Result<vgpu::Options> options = schedule.resolve();
  if (!options.status.is_good()) return verdict.refuse(options.status.sentence());
  order = order_of(instance, conv2d_anywhere(shape), options.value->sm_count);
  if (split_k != 0) order.split_k = split_k;

  const VerifiedConv2d problem(shape, fill, seed);
  run_schedules(
      fmt::format("conv2d {} {} x {} x {} x {} with {} x {} x {}, {} ({} stages)",
                  name_of(shape.direction), shape.n, shape.h.extent, shape.w.extent, shape.c,
                  shape.k, shape.h.filter, shape.w.filter, instance.name, instance.stages),
      shape.as_matmul().outputs(), *options.value,
      [&](const vgpu::Options& schedule) {
        return run_virtually(instance, order, problem, schedule);
      },
      run_line(instance, shape, fill, seed, order), verdict);
}

}  // namespace

void add_run_conv2d(CLI::App& command, Verdict& verdict) {
  add_run_family<Conv2dRequest>(command, "conv2d", meaning, verdict);
}

void add_check_conv2d(CLI::App& command, Verdict& verdict) {
  add_check_family<Conv2dRequest>(command, "conv2d", meaning, verdict);
}

}  // namespace tw::cli
