// What one launch of a convolution does: the convolution itself or, of backward data, a forward
// convolution of D's gradient that makes every stride-th pixel along each side.
#pragma once

#include <algorithm>
#include <numeric>

#include "tilewright/base/status.h"
#include "tilewright/host/conv2d_problem.h"

namespace tw {

struct Conv2dPhase {
  Conv2dProblem problem;  // of backward data: c and k, image and output have changed places
  std::int64_t stored_positions = problem.positions();  // of the filter
  // Of backward data: which of them come, and the output's pixels, between which others may lie: in
  // elements from one to the next along w, h and n.
  std::int64_t first_stored = 0;
  std::int64_t stored_steps[3] = {};
  bool gaps = false;
  std::int64_t pixel_pitches[3] = {};
};

namespace detail {

// The pixels first, first + stride, ... of the image meet the filter's positions `position`,
// position - step, ...
struct GradientAxis {
  Conv2dAxis axis;
  std::int64_t position;
  std::int64_t step;
};
inline GradientAxis gradient_axis(const Conv2dAxis& given, std::int64_t first) {
  const std::int64_t shared = std::gcd(given.stride, given.dilation);
  const std::int64_t step = given.stride / shared;
  const auto offset = [&](std::int64_t position) {
    return first + given.pad_low - position * given.dilation;
  };
  std::int64_t last = given.filter - 1;
  while (last >= 0 && offset(last) % given.stride != 0) --last;
  Conv2dAxis axis = {.extent = given.outputs(),
                     .filter = given.outputs() == 0 ? 0 : (last + step) / step,
                     .dilation = given.dilation / shared,
                     .pad_low = -offset(last) / given.stride};
  const std::int64_t pixels = (given.extent - first - 1) / given.stride + 1;
  axis.pad_high = pixels + axis.reach() - axis.extent - axis.pad_low;
  return {axis, last, step};
}

}  // namespace detail

// visit(phase) until one is refused.
template <class Visit>
Status for_each_phase(const Conv2dProblem& given, const Visit& visit) {
  if (given.direction != Conv2dDirection::BackwardData) return visit(Conv2dPhase{given});
  const std::int64_t steps[3] = {1, given.w.filter, given.w.filter * given.h.filter};
  const std::int64_t pitches[3] = {given.c, given.c * given.w.extent,
                                   given.c * given.w.extent * given.h.extent};
  const auto phases = [&](unsigned i) {
    return std::min(given.axis(i).stride, given.axis(i).extent);
  };
  for (std::int64_t index = 0; index < phases(0) * phases(1) * phases(2); ++index) {
    Conv2dPhase phase = {given};
    phase.problem.c = given.k;
    phase.problem.k = given.c;
    phase.pixel_pitches[2] = pitches[2];
    std::int64_t rest = index, first_element = 0;
    for (unsigned i = 0; i < 3; ++i) {
      const std::int64_t first = rest % phases(i);
      rest /= phases(i);
      const auto [axis, position, step] = detail::gradient_axis(given.axis(i), first);
      (i == 0 ? phase.problem.w : i == 1 ? phase.problem.h : phase.problem.depth) = axis;
      phase.first_stored += position * steps[i];
      phase.stored_steps[i] = -step * steps[i];
      if (i < 2) phase.pixel_pitches[i] = pitches[i] * given.axis(i).stride;
      phase.gaps = phase.gaps || given.axis(i).stride > 1;
      first_element += first * pitches[i];
    }
    phase.problem.d =
        static_cast<unsigned char*>(given.d) + first_element * std::int64_t{bytes_of(given.d_type)};
    if (Status status = visit(phase); !status.is_good()) return status;
  }
  return Status::good();
}

}  // namespace tw
