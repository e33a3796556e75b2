// The plan of a convolution: the plan of the matmul that it is, with what its own loader needs.
#pragma once

#include "tilewright/family/conv2d.h"
#include "tilewright/host/conv2d_check.h"
#include "tilewright/host/matmul.h"

namespace tw {

namespace detail {

inline Divisor divisor_of(std::int64_t value) { return Divisor(static_cast<unsigned>(value)); }

// side_at(i) is the Conv2dSide of side i.
template <unsigned most, class SideAt>
void fill_axes(Im2colAxes<most>& axes, const Conv2dProblem& problem, const SideAt& side_at) {
  axes.groups = divisor_of(problem.groups);
  int positions = 1;
  for (unsigned i = 0; i < 3; ++i) {
    const Conv2dSide side = side_at(problem, i);
    axes.axes[i] = {.outputs = divisor_of(side.axis.outputs()),
                    .extent = static_cast<int>(side.axis.extent),
                    .stride = static_cast<int>(side.axis.stride),
                    .pad = static_cast<int>(side.axis.pad_low),
                    .dilation = static_cast<int>(side.dilation),
                    .stored_step = static_cast<int>(side.step) * positions,
                    .num_phases = divisor_of(side.num_phases),
                    .phases = {}};
    for (unsigned p = 0; p < side.num_phases; ++p) {
      const Conv2dSide::Phase& phase = side.phases[p];
      Divisor filter = divisor_of(std::max<std::int64_t>(1, phase.filter));
      filter.value = static_cast<unsigned>(phase.filter);  // by 0 nothing is divided
      axes.axes[i].phases[p] = {filter, static_cast<int>(phase.begin + side.axis.pad_low),
                                static_cast<int>(phase.position) * positions};
    }
    positions *= static_cast<int>(problem.axis(i).filter);
  }
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
    image.step[i + 1] = static_cast<unsigned>(axis.stride);
    pitch *= axis.extent;
  }
  image.extents[image.rank - 1] = problem.n;
  image.pitch_bytes[image.rank - 2] = pitch;
  return image;
}

// The other operand: the filter, or, of backward filter, D's gradient.
inline MatrixBox matrix_box(const Conv2dProblem& whole, TmaBox box) {
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
Status fill_im2col(typename Parts::Loader::Params& loader, const Conv2dProblem& whole,
                   const Encode& encode) {
  using Loader = typename Parts::Loader;
  const Conv2dProblem problem = as_forward(whole);
  loader.deep = problem.is_deep() ? 1 : 0;
  const std::int64_t channels = problem.c / problem.groups;
  loader.c_tiles = divisor_of((channels - 1) / Parts::tiling.k() + 1);
  loader.group_channels = static_cast<int>(channels);
  loader.group_filters = static_cast<int>(whole.k / whole.groups * whole.positions());
  const bool sums_pixels = problem.direction == Conv2dDirection::BackwardFilter;
  const TmaBox image = sums_pixels ? Loader::box_b() : Loader::box_a();
  const TmaBox matrix = sums_pixels ? Loader::box_a() : Loader::box_b();
  Status status = encode(sums_pixels ? loader.b : loader.a, image_box(problem, image));
  if (!status.is_good()) return status;
  // Threads bring filters; but both maps are fetched.
  if constexpr (spans_groups<Parts>()) {
    loader.b = loader.a;
    return status;
  }
  return encode(sums_pixels ? loader.a : loader.b, matrix_box(whole, matrix));
}

// What threads copy.
template <class Parts, class Encode>
Status fill_copies(typename Parts::Loader::Params& loader, const Conv2dProblem& problem,
                   const MatmulProblem& matmul, const Encode& encode) {
  const Status status = fill_loader<typename Parts::Loader>(loader, matmul, encode);
  const std::int64_t c = as_forward(problem).c / problem.groups;
  if constexpr (spans_groups<Parts>()) {
    const std::int64_t together = groups_together(problem, Parts::tiling);
    loader.line = by_lines(problem) ? static_cast<int>(problem.w.filter * c) : 0;
    loader.channels = divisor_of(loader.line != 0 ? padded_line(problem) : together * c);
    loader.filter_channels = divisor_of(together == 1 ? matmul.k : together * c);
    loader.group_channels = divisor_of(together == 1 ? matmul.k : c);
    loader.group_filters = divisor_of(matmul.n / together);
    if (together > 1) {
      loader.b.alignment =
          std::min(loader.b.alignment, alignment_of(nullptr, c, 1, 0, problem.type));
    }
  } else {
    loader.channels = divisor_of(c);
    loader.filter_positions = static_cast<int>(problem.positions());
  }
  return status;
}

}  // namespace detail

// Where tiles are of several groups, what sums them up again.
template <class Parts>
GroupSums group_sums(const Im2colAxes<1>& axes, const Conv2dProblem& problem,
                     const MatmulProblem& matmul) {
  GroupSums sums;
  const std::int64_t together = groups_together(problem, Parts::tiling);
  if (together == 1) return sums;
  static_cast<Im2colAxes<1>&>(sums) = axes;
  sums.image = detail::view_of(matmul.a, matmul, matmul.m);
  sums.filters = detail::view_of(matmul.b, matmul, matmul.n);
  sums.group_filters = detail::divisor_of(matmul.n / together);
  sums.group_channels = static_cast<unsigned>(problem.c / problem.groups);
  sums.positions = static_cast<unsigned>(problem.positions());
  return sums;
}

// The matmul as this kernel's loader counts its k.
template <class Parts>
MatmulProblem as_matmul(const Conv2dProblem& given) {
  const Conv2dProblem problem = with_patches(given);
  if (!spans_groups<Parts>()) {
    return as_matmul(problem, Parts::Loader::elected ? Parts::tiling.k() : 1);
  }
  MatmulProblem matmul = as_pieces(problem, Parts::tiling);
  // Of B nothing but its blocks is in memory, which threads read.
  if (Parts::Loader::elected) {
    matmul.b.pitch = matmul.k;
    matmul.b.batch_pitch = matmul.n * matmul.k;
  }
  return matmul;
}

// Why a kernel cannot compute a convolution in this order; good if it can.
template <class Parts>
Status supports(const Conv2dProblem& given, const MatmulOrder& order) {
  if (Status status = check(given); !status.is_good()) return status;
  const Conv2dProblem problem = with_patches(given);
  if (Parts::Sources::has_role && problem.groups > 1 && problem.epilogue.beta != 0.0f) {
    return Status::refused("This kernel stages C, whose columns groups = " +
                           std::to_string(problem.groups) + " would shift; it must be 1.");
  }
  if constexpr (Parts::Loader::elected) {
    Conv2dProblem seen = as_forward(problem);
    if (spans_groups<Parts>()) {
      const std::int64_t together = groups_together(problem, Parts::tiling);
      const std::int64_t channels = together * (problem.c / problem.groups);
      if (together == 1 || channels != Parts::tiling.k()) {
        return Status::refused("A tile takes " + std::to_string(together) + " groups of together " +
                               std::to_string(channels) + " channels; several must have " +
                               std::to_string(Parts::tiling.k()) + " in this kernel.");
      }
      seen.groups /= together;
    }
    Status status = check_im2col(seen, Parts::tiling.k());
    if (!status.is_good()) return status;
  }
  if (spans_groups<Parts>() && problem.is_deep()) {
    return Status::refused("Images of this kernel have two sides, and no depth.");
  }
  return supports<Parts>(as_matmul<Parts>(problem), order);
}

// Of a problem that the kernel supports. `encode` takes a MatrixBox or an Im2colBox.
template <class Parts, class Encode>
Status plan(typename kernel::WarpSpecialized<Parts>::Params& params, MatmulGrid& grid,
            const Conv2dProblem& given, const MatmulOrder& order, unsigned max_clusters,
            const Workspace& workspace, const Encode& encode) {
  using Loader = typename Parts::Loader;
  const Conv2dProblem problem = with_patches(given);
  const MatmulProblem matmul = as_matmul<Parts>(problem);
  Status planned =
      plan<Parts>(params, grid, matmul, order, max_clusters, workspace, encode,
                  [&](typename Loader::Params& loader) {
                    // Nothing is summed up, and nothing loaded.
                    if (matmul.k == 0) return detail::fill_loader<Loader>(loader, matmul, encode);
                    detail::fill_axes(loader, problem, side_of);
                    if constexpr (Loader::elected) {
                      return detail::fill_im2col<Parts>(loader, problem, encode);
                    } else {
                      return detail::fill_copies<Parts>(loader, problem, matmul, encode);
                    }
                  });
  if constexpr (spans_groups<Parts>()) {
    params.epilogue.epilogue.groups =
        group_sums<Parts>(params.loader, problem, as_pieces(problem, Parts::tiling));
    if constexpr (Loader::elected) {
      const GroupSums& groups = params.epilogue.epilogue.groups;
      params.own = {groups.filters, groups.group_filters, groups.group_channels};
    }
  }
  if constexpr (is_backward_data(Parts::config)) {
    PixelView& view = params.epilogue.output.view;
    detail::fill_axes(view, problem, pixels_of);
    view.pixels = static_cast<int>(problem.n * problem.image_pixels());
    static_cast<PixelView&>(params.epilogue.epilogue) = view;
    auto& tiles = detail::tile_map(params.schedule);
    detail::fill_axes(tiles, problem, side_of);
    const bool sums = matmul.k > 0 && problem.epilogue.alpha != 0.0f;
    tiles.position_k = sums ? static_cast<int>(matmul.k / as_forward(problem).positions()) : 0;
  }
  return planned;
}

}  // namespace tw
