// Convolutions for tests of the virtual GPU and of the real one.
#pragma once

#include <algorithm>

#include "src/families/conv2d.h"
#include "src/verify/product.h"
#include "src/verify/virtual.h"
#include "tests/families/seed.h"
#include "tilewright/family/conv2d/launch.h"

namespace tw::tests {

// tw_conv2d_axis with the values that leave a side alone.
struct Axis {
  std::int64_t extent = 1, filter = 1, stride = 1, dilation = 1, pad_low = 0, pad_high = 0;
  operator tw_conv2d_axis() const { return {extent, filter, stride, dilation, pad_low, pad_high}; }
};

// A problem without memory, and the parts of its epilogue.
struct Conv2dShape : tw_conv2d_problem {
  EpilogueShape parts;
};

inline const Conv2dFacts& facts_of_conv2d(const Instance& instance) {
  return *static_cast<const Conv2dFacts*>(instance.facts);
}

// What the instance takes where nothing is said: one pixel of no channels.
inline Conv2dShape shape_for(const Instance& instance) {
  Case usual = usual_case(conv2d_trial, instance);
  Conv2dShape shape = {usual.as<tw_conv2d_problem>(), {}};
  shape.n = shape.c = shape.k = 1;
  shape.h = shape.w = shape.depth = Axis{};
  return shape;
}
inline Conv2dShape random_shape(const Instance& instance, Random& random) {
  Case made = usual_case(conv2d_trial, instance);
  conv2d_trial.random(made, random);
  Conv2dShape shape = {made.as<tw_conv2d_problem>(), {}};
  shape.parts.column_bias = random() % 2 == 0;
  const bool stages_groups = config_of(instance).c_stages != 0 && shape.groups > 1;
  if (random() % 3 == 0 && !stages_groups) shape.parts.beta = 1.0f;
  if (shape.d_type != TW_S32) shape.parts.source_type = static_cast<ElementType>(shape.d_type);
  if (random() % 3 == 0) shape.parts.activation = Activation::Relu;
  return shape;
}

// The fewest channels that TMA takes.
inline std::int64_t piece_of(const Conv2dShape& shape) {
  return 16 / bytes_of(static_cast<ElementType>(shape.type));
}

// TMA brings groups that share a tile where they fill a k-tile together.
inline bool takes_full_tiles_of_groups(const Instance& instance) {
  return facts_of_conv2d(instance).spans_groups && !facts_of_conv2d(instance).by_threads;
}
inline void make_full_tiles_of_groups(Conv2dShape& shape, std::int64_t channels, std::int64_t tiles,
                                      std::int64_t filters) {
  shape.groups = tiles * (64 / channels);
  shape.c = tiles * 64;
  shape.k = shape.groups * filters;
}
inline std::string refusal_of(const Instance& instance, const Conv2dShape& shape) {
  Case made = conv2d_case(instance, shape);
  return serves(made).sentence();
}

// The shape, or where the instance takes those only, the depthwise one, the one of full tiles of
// groups or the one of three positions side by side like it.
inline Conv2dShape suited(const Instance& instance, Conv2dShape shape) {
  if (config_of(instance).initial_c != 0) {  // pairs of columns, and nothing but C, a bias and relu
    shape.k += shape.k / shape.groups % 2 * shape.groups;
    shape.parts = shape.parts.begun(static_cast<ElementType>(shape.d_type));
  }
  if (facts_of_conv2d(instance).by_lines && !refusal_of(instance, shape).empty()) {
    shape.w.extent += line_positions - 1;
    shape.w.filter = line_positions;
    shape.w.stride = shape.w.dilation = 1;
  }
  if (takes_full_tiles_of_groups(instance) && !refusal_of(instance, shape).empty()) {
    make_full_tiles_of_groups(shape, std::int64_t{4} << shape.n % 4, 2, 4);
  }
  if (!facts_of_conv2d(instance).depthwise) return shape;
  shape.groups = shape.c;
  shape.k = std::max<std::int64_t>(1, shape.k / shape.c) * shape.c;
  shape.parts.gated = false;
  return shape;
}

inline Case case_of(const Instance& instance, const Conv2dShape& shape, Fill fill,
                    std::uint64_t seed) {
  Case made = conv2d_case(instance, shape);
  set_epilogue(made.as<tw_conv2d_problem>().epilogue, shape.parts);
  made.fill = fill;
  made.seed = seed;
  if (config_of(instance).split == Split::Parts)
    made.order.split_k = static_cast<int>(1 + seed % 4);
  return made;
}

// A run in memory of its own, of a problem that may have been changed.
struct Ran {
  HostProblem data;
  Status status = Status::good();
  vgpu::Report report = {};
};
inline Ran run_with(const Instance& instance, const HostProblem& given,
                    const std::function<void(tw_conv2d_problem&)>& change = {},
                    const vgpu::Options& options = {}) {
  Ran ran = {given};
  AnyProblem problem = ran.data.placed();
  if (change) change(problem.as<tw_conv2d_problem>());
  Checked checked;
  ran.status = check(checked, Conv2dFamily::description, problem.data());
  if (ran.status.is_good()) ran.status = instance.simulate(checked, {}, options, ran.report);
  return ran;
}

}  // namespace tw::tests
