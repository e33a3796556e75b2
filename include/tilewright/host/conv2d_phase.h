// What one launch of a convolution does: all of it or, of backward data, a forward convolution of
// D's gradient that makes every stride-th pixel along each side.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>

#include "tilewright/base/status.h"
#include "tilewright/host/conv2d_problem.h"

namespace tw {

struct Conv2dPhase {
  Conv2dProblem whole;
  Conv2dProblem problem = whole;  // of backward data: c and k, image and D have changed places
  // Which of the filter's positions come: the first, and steps along w, h and depth.
  std::int64_t first_stored = 0;
  std::int64_t stored_steps[3] = {};
};

// visit(phase) until one is refused.
template <class Visit>
Status for_each_phase(const Conv2dProblem& whole, const Visit& visit) {
  if (whole.direction != Conv2dDirection::BackwardData) return visit(Conv2dPhase{whole});
  const auto phases = [&](unsigned i) {
    return std::min(whole.axis(i).stride, whole.axis(i).extent);
  };
  for (std::int64_t index = 0; index < phases(0) * phases(1) * phases(2); ++index) {
    Conv2dPhase phase = {whole};
    Conv2dProblem& problem = phase.problem;
    std::swap(problem.c, problem.k);
    std::int64_t rest = index, pixel = 0, pixels = 1, positions = 1;
    for (unsigned i = 0; i < 3; ++i) {
      const Conv2dAxis& given = whole.axis(i);
      const std::int64_t first = rest % phases(i), outputs = given.outputs();
      // Pixel `first` meets positions for which this is a multiple of the stride: the last of them
      // and every step-th one before it.
      const auto offset = [&](std::int64_t position) {
        return first + given.pad_low - position * given.dilation;
      };
      const std::int64_t step = given.stride / std::gcd(given.stride, given.dilation);
      std::int64_t last = given.filter - 1;
      while (last >= 0 && offset(last) % given.stride != 0) --last;
      Conv2dAxis axis = {.extent = outputs,
                         .filter = outputs == 0 ? 0 : (last + step) / step,
                         .dilation = given.dilation * step / given.stride,
                         .pad_low = -offset(last) / given.stride};
      axis.pad_high = (given.extent - first - 1) / given.stride + 1 + axis.reach() - outputs;
      axis.pad_high -= axis.pad_low;
      (i == 0 ? problem.w : i == 1 ? problem.h : problem.depth) = axis;
      phase.first_stored += last * positions;
      phase.stored_steps[i] = -step * positions;
      pixel += first * pixels;
      rest /= phases(i);
      pixels *= given.extent;
      positions *= given.filter;
    }
    problem.d = static_cast<unsigned char*>(whole.d) + pixel * whole.c * bytes_of(whole.d_type);
    if (Status status = visit(phase); !status.is_good()) return status;
  }
  return Status::good();
}

}  // namespace tw
