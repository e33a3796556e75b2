// The plan of a convolution: the plan of the matmul that it is, with what its own loader needs.
#pragma once

#include "tilewright/family/conv2d.h"
#include "tilewright/host/conv2d_check.h"
#include "tilewright/host/conv2d_phase.h"
#include "tilewright/host/matmul.h"

namespace tw {

namespace detail {

inline Im2colAxis im2col_axis(const Conv2dAxis& axis) {
  return {.outputs = Divisor(static_cast<unsigned>(axis.outputs())),
          .filter = Divisor(static_cast<unsigned>(axis.filter)),
          .extent = static_cast<int>(axis.extent),
          .stride = static_cast<int>(axis.stride),
          .pad = static_cast<int>(axis.pad_low),
          .dilation = static_cast<int>(axis.dilation)};
}

// The image as the filter meets it, by columns of `box`.
inline Im2colBox image_box(const Conv2dProblem& problem, TmaBox box) {
  Im2colBox image = {.base = problem.image,
                     .type = problem.type,
                     .rank = problem.is_deep() ? 5u : 4u,
                     .extents = {problem.c},
                     .box_channels = box.inner,
                     .box_pixels = box.outer};
  std::int64_t pitch = problem.c * bytes_of(problem.type);
  for (unsigned i = 0; i + 2 < image.rank; ++i) {
    const Conv2dAxis& axis = problem.axis(i);
    image.extents[i + 1] = axis.extent;
    image.pitch_bytes[i] = pitch;
    image.lower[i] = static_cast<int>(-axis.pad_low);
    image.upper[i] = static_cast<int>(axis.pad_high - axis.reach());
    image.step[i] = static_cast<unsigned>(axis.stride);
    pitch *= axis.extent;
  }
  image.extents[image.rank - 1] = problem.n;
  image.pitch_bytes[image.rank - 2] = pitch;
  return image;
}

// The other operand: the filter, or, of backward filter, D's gradient.
inline MatrixBox matrix_box(const Conv2dPhase& phase, TmaBox box) {
  const Conv2dProblem& whole = phase.whole;
  const bool is_filter = whole.direction != Conv2dDirection::BackwardFilter;
  MatrixBox matrix = {.base = whole.filter,
                      .type = whole.type,
                      .inner = is_filter ? whole.c / whole.groups : whole.k,
                      .outer = is_filter ? whole.k / whole.groups : whole.n * whole.pixels(),
                      .batch = is_filter ? whole.positions() : 1,
                      .box_inner = box.inner,
                      .box_outer = box.outer};
  matrix.batch_pitch_bytes = matrix.inner * bytes_of(whole.type);
  matrix.pitch_bytes = matrix.batch * matrix.batch_pitch_bytes;
  // A group begins where the positions of the filters of those before it end.
  if (is_filter) matrix.batch += (whole.groups - 1) * matrix.outer * matrix.batch;
  return matrix;
}

template <class Parts, class Encode>
Status fill_im2col(typename Parts::Loader::Params& loader, const Conv2dPhase& phase,
                   const Encode& encode) {
  using Loader = typename Parts::Loader;
  const Conv2dProblem& problem = phase.problem;
  for (unsigned i = 0; i < 3; ++i) {
    loader.axes[i].stored_step = static_cast<int>(phase.stored_steps[i]);
  }
  loader.first_stored = static_cast<int>(phase.first_stored);
  loader.deep = problem.is_deep() ? 1 : 0;
  const std::int64_t channels = problem.c / problem.groups;
  loader.c_tiles = Divisor(static_cast<unsigned>((channels - 1) / Parts::tiling.k() + 1));
  loader.group_channels = static_cast<int>(channels);
  loader.group_filters = static_cast<int>(problem.k / problem.groups * problem.positions());
  const bool sums_pixels = problem.direction == Conv2dDirection::BackwardFilter;
  const TmaBox image = sums_pixels ? Loader::box_b() : Loader::box_a();
  const TmaBox matrix = sums_pixels ? Loader::box_a() : Loader::box_b();
  Status status = encode(sums_pixels ? loader.b : loader.a, image_box(problem, image));
  if (!status.is_good()) return status;
  return encode(sums_pixels ? loader.a : loader.b, matrix_box(phase, matrix));
}

// What a phase makes, between the pixels of the others.
template <class Store, class Encode>
Status fill_pixels(typename Store::Params& output, const Conv2dPhase& phase, const Encode& encode) {
  const Conv2dProblem &whole = phase.whole, &problem = phase.problem;
  output.gaps = whole.h.stride * whole.w.stride > 1 ? 1 : 0;
  if (output.gaps == 0) return Status::good();
  output.width = Divisor(static_cast<unsigned>(problem.w.outputs()));
  output.height = Divisor(static_cast<unsigned>(problem.h.outputs()));
  const std::int64_t pixel = whole.c * bytes_of(whole.d_type), line = whole.w.extent * pixel;
  return encode(output.map,
                Im2colBox{.base = problem.d,
                          .type = whole.d_type,
                          .extents = {whole.c, output.width.value, output.height.value, whole.n},
                          .pitch_bytes = {whole.w.stride * pixel, whole.h.stride * line,
                                          whole.h.extent * line},
                          .box_channels = Store::chunk_columns,
                          .box_pixels = Store::chunk_rows});
}

}  // namespace detail

// The matmul as this kernel's loader counts its k.
template <class Parts>
MatmulProblem as_matmul(const Conv2dProblem& problem) {
  return as_matmul(problem, Parts::Loader::elected ? Parts::tiling.k() : 1);
}

// Why a kernel cannot compute a convolution in this order; good if it can.
template <class Parts>
Status supports(const Conv2dProblem& problem, const MatmulOrder& order) {
  if (Status status = check(problem); !status.is_good()) return status;
  if (Parts::Sources::has_role && problem.groups > 1 && problem.epilogue.beta != 0.0f) {
    return Status::refused("This kernel stages C, whose columns groups = " +
                           std::to_string(problem.groups) + " would shift; it must be 1.");
  }
  return for_each_phase(problem, [&](const Conv2dPhase& phase) {
    if constexpr (Parts::Loader::elected) {
      Status status = check_im2col(phase.problem, Parts::tiling.k());
      if (!status.is_good()) return status;
    }
    return supports<Parts>(as_matmul<Parts>(phase.problem), order);
  });
}

// Of a problem that the kernel supports. `encode` takes a MatrixBox or an Im2colBox.
template <class Parts, class Encode>
Status plan(typename kernel::WarpSpecialized<Parts>::Params& params, MatmulGrid& grid,
            const Conv2dPhase& phase, const MatmulOrder& order, unsigned max_clusters,
            const Workspace& workspace, const Encode& encode) {
  using Loader = typename Parts::Loader;
  const Conv2dProblem& problem = phase.problem;
  const MatmulProblem matmul = as_matmul<Parts>(problem);
  Status planned = plan<Parts>(params, grid, matmul, order, max_clusters, workspace, encode,
                               [&](typename Loader::Params& loader) {
                                 // Nothing is summed up, and nothing loaded.
                                 if (matmul.k == 0)
                                   return detail::fill_loader<Loader>(loader, matmul, encode);
                                 for (unsigned i = 0; i < 3; ++i)
                                   loader.axes[i] = detail::im2col_axis(problem.axis(i));
                                 if constexpr (Loader::elected) {
                                   return detail::fill_im2col<Parts>(loader, phase, encode);
                                 } else {
                                   loader.channels =
                                       Divisor(static_cast<unsigned>(problem.c / problem.groups));
                                   return detail::fill_loader<Loader>(loader, matmul, encode);
                                 }
                               });
  if constexpr (requires { params.epilogue.output.gaps; }) {
    if (!planned.is_good()) return planned;
    return detail::fill_pixels<typename Parts::Store>(params.epilogue.output, phase, encode);
  }
  return planned;
}

}  // namespace tw
