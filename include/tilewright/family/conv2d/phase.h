// A convolution as its kernels see it. Backward data is a forward convolution of D's gradient with
// a stride of 1, in phases: every stride-th pixel of a side meets the same of the filter's
// positions.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>

#include "tilewright/family/conv2d/family.h"

namespace tw {

struct Conv2dSide {
  // A phase's first pixel, how many of the filter's positions meet it, the one that comes first,
  // and which pixel of what is convolved that one meets.
  struct Phase {
    std::int64_t pixel = 0;
    std::int64_t filter = 0;
    std::int64_t position = 0;
    std::int64_t begin = 0;
  };
  tw_conv2d_axis axis;  // large enough, and with a filter that reaches far enough, for all phases
  std::int64_t dilation = axis.dilation;
  std::int64_t step = 0;  // from one of the filter's positions to the next
  Phase phases[8] = {{0, axis.filter, 0, -axis.pad_low}};
  unsigned num_phases = 1;
};

inline Conv2dSide side_of(const tw_conv2d_problem& problem, unsigned i) {
  const tw_conv2d_axis& given = axis_of(problem, i);
  if (problem.direction != TW_BACKWARD_DATA) return {given};
  const std::int64_t common = std::gcd(given.stride, given.dilation), outputs = outputs_of(given);
  // What all phases meet lies from here to there.
  const std::int64_t lowest = (given.pad_low - reach_of(given) - given.stride + 1) / given.stride;
  const std::int64_t highest = (given.pad_low + given.stride - 1) / given.stride;
  Conv2dSide side = {.axis = {outputs, outputs == 0 ? 0 : highest - lowest + 1, 1, 1, -lowest, 0},
                     .dilation = given.dilation / common,
                     .step = -given.stride / common,
                     .num_phases = static_cast<unsigned>(std::min(given.stride, given.extent))};
  side.axis.pad_high =
      (given.extent - 1) / given.stride + 1 + reach_of(side.axis) - outputs + lowest;
  for (std::int64_t first = 0; first < side.num_phases; ++first) {
    // The last position for which this is a multiple of the stride.
    const auto offset = [&](std::int64_t position) {
      return first + given.pad_low - position * given.dilation;
    };
    std::int64_t last = given.filter - 1;
    while (last >= 0 && offset(last) % given.stride != 0) --last;
    const std::int64_t filter = outputs == 0 ? 0 : (last - side.step) / -side.step;
    side.phases[first] = {first, filter, last, offset(last) / given.stride};
  }
  // The longest sums first: who is done early finds short ones.
  std::stable_sort(side.phases, side.phases + side.num_phases,
                   [](const auto& one, const auto& other) { return one.filter > other.filter; });
  return side;
}

// Where the pixels of backward data's phases are in the image: as if each met itself.
inline Conv2dSide pixels_of(const tw_conv2d_problem& problem, unsigned i) {
  Conv2dSide side = side_of(problem, i);
  side.axis = {axis_of(problem, i).extent, 1, axis_of(problem, i).stride, 1, 0, 0};
  for (Conv2dSide::Phase& phase : side.phases) phase = {phase.pixel, 1, 0, phase.pixel};
  return side;
}

// A gradient of data: c and k, image and D change places.
inline tw_conv2d_problem as_forward(const tw_conv2d_problem& problem) {
  if (problem.direction != TW_BACKWARD_DATA) return problem;
  tw_conv2d_problem forward = problem;
  std::swap(forward.c, forward.k);
  forward.w = side_of(problem, 0).axis;
  forward.h = side_of(problem, 1).axis;
  forward.depth = side_of(problem, 2).axis;
  return forward;
}

// A forward filter that never meets a pixel twice, nor any outside of the image: the pixels that it
// meets on a line are one pixel of more channels, and those lines are an image. So patches of few
// channels have vectors, and no stride.
inline tw_conv2d_problem with_patches(const tw_conv2d_problem& given) {
  tw_conv2d_problem problem = given;
  if (problem.direction != TW_FORWARD || problem.groups != 1) return problem;
  const auto is_cut = [](const tw_conv2d_axis& axis) {
    return axis.filter > 1 && axis.stride == axis.filter && axis.dilation == 1 &&
           axis.pad_low == 0 && axis.pad_high == 0 && axis.extent % axis.filter == 0;
  };
  tw_conv2d_axis &w = problem.w, &h = problem.h;
  if (is_cut(w)) {
    problem.c *= w.filter;
    w = {w.extent / w.filter, 1, 1, 1, 0, 0};
  }
  if (is_cut(h) && !is_deep(problem)) {
    problem.n *= h.extent / h.filter;
    h = {h.filter, h.filter, 1, 1, 0, 0};
  }
  return problem;
}

// Phases of one launch, over all sides.
inline std::int64_t num_phases(const tw_conv2d_problem& problem) {
  std::int64_t count = 1;
  for (unsigned i = 0; i < 3; ++i) count *= side_of(problem, i).num_phases;
  return count;
}

}  // namespace tw
