// The plan of a convolution: the plan of the matmul that it is, with the maps of its own loader.
#pragma once

#include "tilewright/family/conv2d.h"
#include "tilewright/host/conv2d_check.h"
#include "tilewright/host/matmul.h"

namespace tw {

// `encode` takes a MatrixBox or an Im2colBox.
template <class Parts, class Encode>
Status plan(typename kernel::WarpSpecialized<Parts>::Params& params, MatmulGrid& grid,
            const Conv2dProblem& problem, const MatmulOrder& order, unsigned max_clusters,
            const Workspace& workspace, const Encode& encode) {
  using Loader = typename Parts::Loader;
  const Conv2dAxis &h = problem.h, &w = problem.w;
  const auto axis = [](const Conv2dAxis& given) {
    return Im2colAxis{.outputs = Divisor(static_cast<unsigned>(given.outputs())),
                      .stride = static_cast<int>(given.stride),
                      .pad = static_cast<int>(given.pad_low),
                      .dilation = static_cast<int>(given.dilation)};
  };
  const auto upper = [](const Conv2dAxis& given) {
    return static_cast<int>(given.pad_high - given.reach());
  };
  const auto fill_loader = [&](typename Loader::Params& loader) {
    const std::int64_t positions = h.filter * w.filter;
    const std::int64_t pixel_bytes = problem.c * bytes_of(problem.type);
    loader.h = axis(h);
    loader.w = axis(w);
    loader.filter_w = Divisor(static_cast<unsigned>(w.filter));
    loader.c_tiles = Divisor(static_cast<unsigned>((problem.c - 1) / Parts::tiling.k() + 1));
    const Im2colBox image = {
        .base = problem.image,
        .type = problem.type,
        .channels = problem.c,
        .width = w.extent,
        .height = h.extent,
        .images = problem.n,
        .lower = {-loader.w.pad, -loader.h.pad},
        .upper = {upper(w), upper(h)},
        .step = {static_cast<unsigned>(w.stride), static_cast<unsigned>(h.stride)},
        .box_channels = Loader::box_a().inner,
        .box_pixels = Loader::box_a().outer};
    if (Status status = encode(loader.a, image); !status.is_good()) return status;
    return encode(loader.b, MatrixBox{.base = problem.filter,
                                      .type = problem.type,
                                      .inner = problem.c,
                                      .outer = problem.k,
                                      .batch = positions,
                                      .pitch_bytes = positions * pixel_bytes,
                                      .batch_pitch_bytes = pixel_bytes,
                                      .box_inner = Loader::box_b().inner,
                                      .box_outer = Loader::box_b().outer});
  };
  return plan<Parts>(params, grid, as_matmul(problem, Parts::tiling.k()), order, max_clusters,
                     workspace, encode, fill_loader);
}

}  // namespace tw
