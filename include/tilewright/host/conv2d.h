// The plan of a convolution: the plan of the matmul that it is, with what its own loader needs.
#pragma once

#include "tilewright/family/conv2d.h"
#include "tilewright/host/conv2d_check.h"
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

template <class Parts, class Encode>
Status fill_im2col(typename Parts::Loader::Params& loader, const Conv2dProblem& problem,
                   const Encode& encode) {
  using Loader = typename Parts::Loader;
  loader.deep = problem.is_deep() ? 1 : 0;
  loader.c_tiles = Divisor(static_cast<unsigned>((problem.c - 1) / Parts::tiling.k() + 1));
  Status status = encode(loader.a, image_box(problem, Loader::box_a()));
  if (!status.is_good()) return status;
  const std::int64_t pixel_bytes = problem.c * bytes_of(problem.type);
  return encode(loader.b, MatrixBox{.base = problem.filter,
                                    .type = problem.type,
                                    .inner = problem.c,
                                    .outer = problem.k,
                                    .batch = problem.positions(),
                                    .pitch_bytes = problem.positions() * pixel_bytes,
                                    .batch_pitch_bytes = pixel_bytes,
                                    .box_inner = Loader::box_b().inner,
                                    .box_outer = Loader::box_b().outer});
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
  if constexpr (Parts::Loader::elected) {
    if (Status status = check_im2col(problem); !status.is_good()) return status;
  }
  return supports<Parts>(as_matmul<Parts>(problem), order);
}

// Of a problem that the kernel supports. `encode` takes a MatrixBox or an Im2colBox.
template <class Parts, class Encode>
Status plan(typename kernel::WarpSpecialized<Parts>::Params& params, MatmulGrid& grid,
            const Conv2dProblem& problem, const MatmulOrder& order, unsigned max_clusters,
            const Workspace& workspace, const Encode& encode) {
  using Loader = typename Parts::Loader;
  const MatmulProblem matmul = as_matmul<Parts>(problem);
  return plan<Parts>(params, grid, matmul, order, max_clusters, workspace, encode,
                     [&](typename Loader::Params& loader) {
                       for (unsigned i = 0; i < 3; ++i)
                         loader.axes[i] = detail::im2col_axis(problem.axis(i));
                       if constexpr (Loader::elected) {
                         return detail::fill_im2col<Parts>(loader, problem, encode);
                       } else {
                         loader.channels =
                             Divisor(static_cast<unsigned>(problem.c / problem.groups));
                         return detail::fill_loader<Loader>(loader, matmul, encode);
                       }
                     });
}

}  // namespace tw
