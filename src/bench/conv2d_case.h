// A convolution to measure.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "tilewright/family/conv2d/family.h"

namespace tw::bench {

// What is done with the sums, if anything: D = relu(sum + bias + residual).
struct Conv2dEpilogue {
  bool bias = false;
  bool residual = false;
  bool relu = false;
};

// D = image * filter in bf16 or fp16, NHWC and KRSC.
struct Conv2dCase {
  std::int64_t n = 1, c = 1, k = 1, groups = 1;
  tw_conv2d_axis h = {1, 1, 1, 1, 0, 0}, w = h;
  ElementType type = ElementType::Bf16;

  // Its addresses are null.
  tw_conv2d_problem problem() const {
    tw_conv2d_problem problem = {};
    problem.n = n;
    problem.c = c;
    problem.k = k;
    problem.groups = groups;
    problem.h = h;
    problem.w = w;
    problem.depth = {1, 1, 1, 1, 0, 0};
    problem.type = problem.d_type = static_cast<tw_type>(type);
    problem.epilogue.alpha = problem.epilogue.output_scale = 1.0f;
    return problem;
  }

  std::int64_t pixels() const { return n * outputs_of(h) * outputs_of(w); }
  std::int64_t image_elements() const { return n * h.extent * w.extent * c; }
  std::int64_t filter_elements() const { return k * h.filter * w.filter * (c / groups); }
  std::int64_t output_elements() const { return pixels() * k; }

  // Read and written once.
  double bytes() const {
    return double(bytes_of(type)) *
           (double(image_elements()) + double(filter_elements()) + double(output_elements()));
  }
  double bytes_with_residual() const {
    return bytes() + double(bytes_of(type)) * double(output_elements());
  }
  double flops() const {
    return 2.0 * double(output_elements()) * h.filter * w.filter * double(c / groups);
  }

  // 32x56x56x64 to 64, 3x3; what is not one or the same on both sides is said.
  std::string text() const {
    std::string words =
        fmt::format("{}x{}x{}x{} to {}, {}x{}", n, h.extent, w.extent, c, k, h.filter, w.filter);
    if (h.stride != 1 || w.stride != 1) words += fmt::format(" /{}", h.stride);
    if (h.dilation != 1 || w.dilation != 1) words += fmt::format(" *{}", h.dilation);
    if (groups != 1) words += fmt::format(" in {}", groups);
    return words;
  }
};

}  // namespace tw::bench
