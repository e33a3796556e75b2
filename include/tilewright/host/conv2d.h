// The plan of a convolution: the plan of the matmul that it is, with the maps of its own loader.
#pragma once

#include "tilewright/family/conv2d.h"
#include "tilewright/host/conv2d_problem.h"
#include "tilewright/host/matmul.h"

namespace tw {

// k counts whole k-tiles, of `tile_k` channels, of every filter position.
inline MatmulProblem as_matmul(const Conv2dProblem& problem, std::int64_t tile_k) {
  return {.m = problem.n * problem.h.outputs() * problem.w.outputs(),
          .n = problem.k,
          .k = problem.h.filter * problem.w.filter * ((problem.c + tile_k - 1) / tile_k * tile_k),
          .a = {.data = problem.image, .pitch = problem.c, .type = problem.type},
          .b = {.data = problem.filter, .pitch = problem.c, .type = problem.type},
          .d = {.data = problem.d, .pitch = problem.k, .type = problem.d_type},
          .epilogue = problem.epilogue};
}

// What must hold wherever it runs by TMA im2col: two corners and two offsets share 16 bits.
inline Status check(const Conv2dProblem& problem) {
  const auto within = [](const std::string& name, std::int64_t value, std::int64_t first,
                         std::int64_t last) {
    if (value >= first && value <= last) return Status::good();
    return Status::refused(name + " = " + std::to_string(value) + " must be from " +
                           std::to_string(first) + " to " + std::to_string(last) + ".");
  };
  constexpr std::int64_t most = (std::int64_t{1} << 31) - 257;
  const auto axis = [&](const std::string& of, const Conv2dAxis& given) {
    Status status = within("The image's " + of, given.extent, 1, most);
    const auto also = [&](const char* what, std::int64_t value, std::int64_t first,
                          std::int64_t last) {
      if (status.is_good()) status = within(what + of, value, first, last);
    };
    also("The filter's extent along ", given.filter, 1, 256);
    also("The stride along ", given.stride, 1, 8);
    also("The dilation along ", given.dilation, 1, 255);
    also("The lower padding along ", given.pad_low, 0, 128);
    also("(filter - 1) * dilation along ", given.reach(), 0, 255);
    also("The upper padding less (filter - 1) * dilation along ", given.pad_high - given.reach(),
         -128, 127);
    also("The upper padding along ", given.pad_high, 0, most);
    return status;
  };
  if (Status status = within("n", problem.n, 0, most); !status.is_good()) return status;
  if (Status status = within("c", problem.c, 1, most); !status.is_good()) return status;
  if (Status status = axis("h", problem.h); !status.is_good()) return status;
  if (Status status = axis("w", problem.w); !status.is_good()) return status;
  const std::int64_t pixels = problem.h.outputs() * problem.w.outputs();
  if (problem.n > 0 && pixels > most / problem.n) {
    return Status::refused("n * p * q = " + std::to_string(problem.n) + " * " +
                           std::to_string(pixels) + " must be below 2^31 - 256.");
  }
  if (problem.n * pixels * problem.k > 0) {
    if (problem.image == nullptr) return Status::refused("The address of the image is null.");
    if (problem.filter == nullptr) return Status::refused("The address of the filter is null.");
  }
  MatmulProblem outputs = as_matmul(problem, 1);
  outputs.k = 0;
  return check(outputs);
}

// `encode` takes a MatrixBox or an Im2colBox.
template <class Parts, class Encode>
Status plan(typename kernel::WarpSpecialized<Parts>::Params& params, MatmulGrid& grid,
            const Conv2dProblem& problem, const MatmulOrder& order, unsigned max_clusters,
            const Workspace& workspace, const Encode& encode) {
  using Loader = typename Parts::Loader;
  const auto& [h, w] = std::pair(problem.h, problem.w);
  const auto axis = [](const Conv2dAxis& given) {
    return Im2colAxis{Divisor(static_cast<unsigned>(given.outputs())),
                      static_cast<int>(given.stride), static_cast<int>(given.pad_low),
                      static_cast<int>(given.dilation)};
  };
  const auto upper = [](const Conv2dAxis& given) {
    return static_cast<int>(given.pad_high - given.reach());
  };
  const auto fill_loader = [&](typename Loader::Params& loader) {
    constexpr TmaBox a = Loader::box_a(), b = Loader::box_b();
    const std::int64_t bytes = bytes_of(problem.type);
    const std::int64_t positions = h.filter * w.filter;
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
        .box_channels = a.inner,
        .box_pixels = a.outer};
    if (Status status = encode(loader.a, image); !status.is_good()) return status;
    return encode(loader.b, MatrixBox{.base = problem.filter,
                                      .type = problem.type,
                                      .inner = problem.c,
                                      .outer = problem.k,
                                      .batch = positions,
                                      .pitch_bytes = positions * problem.c * bytes,
                                      .batch_pitch_bytes = problem.c * bytes,
                                      .box_inner = b.inner,
                                      .box_outer = b.outer});
  };
  return plan<Parts>(params, grid, as_matmul(problem, Parts::tiling.k()), order, max_clusters,
                     workspace, encode, fill_loader);
}

}  // namespace tw
