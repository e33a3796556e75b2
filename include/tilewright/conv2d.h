// Convolutions of device memory: C++ over the C interface of tilewright.h, for C++17 and later.
// What the library refuses is thrown as tw::Error.
#pragma once

#include "tilewright/matmul.h"

namespace tw {

// NHWC and KRSC without gaps: `h`, `w` and `depth` tell extents, filter, strides, dilation and
// padding.
struct Conv2dView {
  std::int64_t n = 1;
  std::int64_t c = 1;
  std::int64_t k = 1;
  tw_conv2d_axis h = {1, 1, 1, 1, 0, 0};
  tw_conv2d_axis w = {1, 1, 1, 1, 0, 0};
  tw_type type = TW_BF16;
  tw_type d_type = TW_BF16;
  std::int64_t groups = 1;
  tw_direction direction = TW_FORWARD;
  tw_conv2d_axis depth = {1, 1, 1, 1, 0, 0};
};

using Conv2dOptions = MatmulOptions;

inline tw_conv2d_problem conv2d_problem(const Conv2dView& view, const void* image,
                                        const void* filter, void* d,
                                        const Conv2dOptions& options = {}) {
  tw_conv2d_problem problem;
  tw_conv2d_init(&problem, nullptr);
  problem.direction = view.direction;
  problem.n = view.n;
  problem.c = view.c;
  problem.k = view.k;
  problem.groups = view.groups;
  problem.h = view.h;
  problem.w = view.w;
  problem.depth = view.depth;
  problem.image = image;
  problem.filter = filter;
  problem.d = d;
  problem.type = view.type;
  problem.d_type = view.d_type;
  problem.epilogue = options.epilogue;
  return problem;
}

// On `stream`, a cudaStream_t.
inline void conv2d(void* stream, const Conv2dView& view, const void* image, const void* filter,
                   void* d, const Conv2dOptions& options = {}) {
  const tw_conv2d_problem problem = conv2d_problem(view, image, filter, d, options);
  detail::must(
      tw_conv2d(&problem, &options.choice, options.workspace, options.workspace_bytes, stream));
}

// What options.workspace must have.
inline std::size_t conv2d_workspace_bytes(const tw_conv2d_problem& problem,
                                          const Conv2dOptions& options = {}) {
  std::size_t bytes = 0;
  detail::must(tw_conv2d_workspace_size(&bytes, &problem, &options.choice));
  return bytes;
}

// On the virtual GPU, in host memory; returns when D is there.
inline void conv2d_on_virtual_gpu(const Conv2dView& view, const void* image, const void* filter,
                                  void* d, const Conv2dOptions& options = {}) {
  const tw_conv2d_problem problem = conv2d_problem(view, image, filter, d, options);
  detail::must(tw_conv2d_simulate(&problem, &options.choice));
}

using Conv2dPlan = detail::Plan<tw_conv2d_problem>;

}  // namespace tw
