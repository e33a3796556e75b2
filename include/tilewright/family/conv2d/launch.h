// The launch of a convolution: that of the matmul that it is, with what its own loader needs.
#pragma once

#include "tilewright/family/conv2d/kernel.h"
#include "tilewright/family/conv2d/phase.h"
#include "tilewright/launch/checked.h"
#include "tilewright/launch/product.h"

namespace tw {

// What is known of a compiled kernel.
struct Conv2dFacts {
  ProductFacts product;
  bool by_threads;       // loaded by them, not by TMA: slower, and takes anything
  bool depthwise;        // takes one channel in each group only, and streams
  bool spans_groups;     // a tile's columns may be of several groups
  bool by_lines;         // takes filters of three positions along w, whose pixels it loads once
  bool counts_channels;  // neither loads nor multiplies channels that would fill up a k-tile
};

// What a kernel's operands tell.
constexpr tw_direction direction_of(const MatmulConfig& config) {
  if (config.tiling.b_major == Major::K) return TW_FORWARD;
  return config.tiling.a_major == Major::K ? TW_BACKWARD_DATA : TW_BACKWARD_FILTER;
}

// How many forward groups a tile spans, where a kernel's tiles may: as many as have at most the
// channels of a k-tile and the tile's columns.
inline std::int64_t groups_together(const tw_conv2d_problem& problem, const Conv2dFacts& facts) {
  if (!facts.spans_groups) return 1;
  const Tiling& tiling = facts.product.config.tiling;
  const std::int64_t c = problem.c / problem.groups, k = problem.k / problem.groups;
  std::int64_t together = 1;
  for (std::int64_t count = 2; count <= problem.groups; ++count) {
    if (count * c > tiling.k() || count * k > tiling.n) break;
    if (problem.groups % count == 0) together = count;
  }
  return together;
}

// A group, of each phase, is a matrix of the batch; or, forward, so many groups together, of whose
// B a filter has the channels of its own group only. Where a filter position's channels are padded
// with zeros to a multiple of `channels`, k counts them, too.
inline MatmulProblem as_matmul(const tw_conv2d_problem& whole, std::int64_t channels,
                               std::int64_t together) {
  const tw_conv2d_problem problem = as_forward(whole);
  const auto type = static_cast<ElementType>(problem.type);
  const auto d_type = static_cast<ElementType>(problem.d_type);
  const std::int64_t groups = problem.groups / together;
  const std::int64_t c = problem.c / groups, k = problem.k / groups;
  const std::int64_t filter = positions_of(whole) * (c / together);
  MatmulProblem matmul = {
      .m = output_pixels(problem),
      .n = k,
      .k = positions_of(problem) * ((c + channels - 1) / channels * channels),
      .batch = groups * num_phases(whole),
      .a = {problem.image, problem.c, c, type},
      .b = {problem.filter, filter, k * filter, type},
      .d = {problem.d, problem.k / (problem.epilogue.gated != 0 ? 2 : 1), k, d_type},
      .epilogue = {}};
  if (problem.direction == TW_BACKWARD_DATA) {
    matmul.b.pitch = k;
    matmul.b.major = Major::MN;
  }
  // k counts pixels. A matrix of the batch is the gradient of a group or, where positions are
  // padded, of one of them.
  if (problem.direction == TW_BACKWARD_FILTER) {
    const std::int64_t beside = channels == 1 ? 1 : positions_of(problem);
    matmul.k = matmul.m;
    matmul.m = k;
    matmul.n = filter / beside;
    matmul.batch = problem.groups * beside;
    matmul.a = {problem.filter, problem.k, k, type, Major::MN};
    matmul.b = {problem.image, problem.c, c, type, Major::MN};
    matmul.d = {problem.d, filter, beside == 1 ? k * filter : c, d_type};
  }
  return matmul;
}

// Kernels that load by lines see the image with a filter of one position along w, for which every
// pixel of a padded line is an output.
inline tw_conv2d_problem with_whole_lines(const tw_conv2d_problem& given) {
  tw_conv2d_problem problem = given;
  problem.w.filter = 1;
  return problem;
}
// True where the lines of filters are what kernels that copy in pieces copy: s * c elements that
// lie side by side, of the filter and of the image, and begin anywhere. Of k they take whole
// chunks. Words of two elements are read, all of which must be in memory.
inline bool by_lines(const tw_conv2d_problem& problem) {
  const auto begins_a_word = [](const void* data) {
    return reinterpret_cast<std::uintptr_t>(data) % 4 == 0;
  };
  const std::int64_t line = problem.w.filter * problem.c, most = 1024;
  return problem.direction == TW_FORWARD && problem.groups == 1 && !is_deep(problem) &&
         problem.c % 2 == 1 && problem.w.dilation == 1 && line <= most &&
         problem.h.filter <= most && begins_a_word(problem.image) &&
         begins_a_word(problem.filter) && image_pixels(problem) % 2 == 0 &&
         problem.k * problem.h.filter * line % 2 == 0;
}
// Elements of k in a line of the filter, with zeros behind it.
inline std::int64_t padded_line(const tw_conv2d_problem& problem) {
  return (problem.w.filter * problem.c + 7) / 8 * 8;
}

namespace detail {

// K-tiles of a filter position in kernels that count channels: as few as there can be, and equally
// many products in each but the last, which has what is left.
inline ChannelCounts::Params count_channels(std::int64_t channels, unsigned k, unsigned product) {
  const auto up = [](unsigned value, unsigned unit) { return (value + unit - 1) / unit; };
  const unsigned tiles = up(static_cast<unsigned>(channels), k);
  const unsigned products = up(static_cast<unsigned>(channels), product);
  const unsigned each = up(products, tiles);
  return {tiles, each, products - (tiles - 1) * each};
}

// What TMA im2col can do, for the problem that kernels see. The corners of all sides share the 16
// bits that it has for them, and so do the offsets.
inline Status check_im2col(const tw_conv2d_problem& problem, std::int64_t unit) {
  if (problem.groups > 1 && problem.direction == TW_BACKWARD_FILTER) {
    return Status::refused(
        sentence("groups = {} must be 1 where TMA brings pixels for the gradient of a filter.",
                 problem.groups));
  }
  // The last k-tile, or its last product, would have channels of the next group.
  const std::int64_t channels = problem.c / problem.groups;
  if (problem.groups > 1 && channels % unit != 0) {
    return Status::refused(
        sentence("{} / groups = {} must be a multiple of {} where TMA copies groups.",
                 problem.direction == TW_BACKWARD_DATA ? "k" : "c", channels, unit));
  }
  const std::int64_t corners = is_deep(problem) ? 16 : 128;  // from -corners to corners - 1
  return for_each_axis(problem, [&](const tw_conv2d_axis& axis, const std::string& along) {
    if (axis.filter == 0) return Status::good();
    return check_ranges({{"The stride" + along, axis.stride, 1, 8},
                         {"The lower padding" + along, axis.pad_low, 1 - corners, corners},
                         {"(filter - 1) * dilation" + along, reach_of(axis), 0, 2 * corners - 1},
                         {"The upper padding less (filter - 1) * dilation" + along,
                          axis.pad_high - reach_of(axis), -corners, corners - 1}});
  });
}

// Kernels that load by lines refuse other filters, strides and dilations along w.
inline Status check_lines(const tw_conv2d_problem& problem) {
  const tw_conv2d_axis& w = problem.w;
  if (w.filter != line_positions || w.stride != 1 || w.dilation != 1) {
    return Status::refused(
        sentence("A filter of {} positions along w, with a stride of {} and a dilation of {}, must "
                 "have {} positions, side by side and without a stride, in this kernel.",
                 w.filter, w.stride, w.dilation, line_positions));
  }
  return check_ranges(
      {{"n * p * (q + 2)", output_pixels(with_whole_lines(problem)), 0, extent_limit - 1}});
}

inline Divisor divisor_of(std::int64_t value) { return Divisor(static_cast<unsigned>(value)); }

// side_at(problem, i) is the Conv2dSide of side i.
template <unsigned most, class SideAt>
void fill_axes(Im2colAxes<most>& axes, const tw_conv2d_problem& problem, const SideAt& side_at) {
  axes.groups = divisor_of(problem.groups);
  int positions = 1;
  for (unsigned i = 0; i < 3; ++i) {
    const Conv2dSide side = side_at(problem, i);
    axes.axes[i] = {.outputs = divisor_of(outputs_of(side.axis)),
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
    positions *= static_cast<int>(axis_of(problem, i).filter);
  }
}

// The image as the filter meets it, by columns of `box`.
inline Im2colBox image_box(const tw_conv2d_problem& problem, ElementType type, TmaBox box) {
  Im2colBox image = {.base = problem.image,
                     .type = type,
                     .rank = is_deep(problem) ? 5u : 4u,
                     .extents = {problem.c},
                     .box_channels = box.inner,
                     .box_pixels = box.outer};
  std::int64_t pitch = problem.c * bytes_of(type);
  for (unsigned i = 0; i + 2 < image.rank; ++i) {
    const tw_conv2d_axis& axis = axis_of(problem, i);
    image.extents[i + 1] = axis.extent;
    image.pitch_bytes[i] = pitch;
    image.lower[i] = static_cast<int>(-axis.pad_low);
    image.upper[i] = static_cast<int>(axis.pad_high - reach_of(axis));
    image.step[i + 1] = static_cast<unsigned>(axis.stride);
    pitch *= axis.extent;
  }
  image.extents[image.rank - 1] = problem.n;
  image.pitch_bytes[image.rank - 2] = pitch;
  return image;
}

// The other operand: the filter, or, of backward filter, D's gradient.
inline MatrixBox matrix_box(const tw_conv2d_problem& whole, ElementType type, TmaBox box) {
  const bool is_filter = whole.direction != TW_BACKWARD_FILTER;
  MatrixBox matrix = {.base = whole.filter,
                      .type = type,
                      .inner = is_filter ? whole.c / whole.groups : whole.k,
                      .outer = is_filter ? whole.k / whole.groups : output_pixels(whole),
                      .batch = is_filter ? positions_of(whole) : 1,
                      .box_inner = box.inner,
                      .box_outer = box.outer};
  matrix.batch_pitch_bytes = matrix.inner * bytes_of(type);
  matrix.pitch_bytes = matrix.batch * matrix.batch_pitch_bytes;
  // A group begins where the positions of the filters of those before it end.
  if (is_filter) matrix.batch += (whole.groups - 1) * matrix.outer * matrix.batch;
  return matrix;
}

template <class Kernel, class Encode>
Status fill_im2col(typename Kernel::Loader::Params& loader, const tw_conv2d_problem& whole,
                   const Encode& encode) {
  using Loader = typename Kernel::Loader;
  constexpr ElementType type = Kernel::config.tiling.a_type;
  const tw_conv2d_problem problem = as_forward(whole);
  loader.deep = is_deep(problem) ? 1 : 0;
  const std::int64_t channels = problem.c / problem.groups;
  loader.c_tiles = divisor_of((channels - 1) / Kernel::tiling.k() + 1);
  loader.group_channels = static_cast<int>(channels);
  loader.group_filters = static_cast<int>(whole.k / whole.groups * positions_of(whole));
  const bool sums_pixels = problem.direction == TW_BACKWARD_FILTER;
  TmaBox image = sums_pixels ? Loader::box_b() : Loader::box_a();
  TmaBox matrix = sums_pixels ? Loader::box_a() : Loader::box_b();
  if constexpr (Loader::is_narrow) {
    // Every line of a stage is as short as a box is narrow.
    constexpr unsigned product = channels_of_product<Kernel::tiling>;
    const unsigned each = count_channels(channels, Kernel::tiling.k(), product).each;
    constexpr unsigned lines = Kernel::Ring::Counts::bytes_by(Role::Load) / Tiling::span_bytes;
    image.inner = matrix.inner = loader.tile_channels = each * product;
    loader.stage_bytes = lines * image.inner * bytes_of(type);
  }
  constexpr bool by_lines = Loader::is_by_lines;
  const tw_conv2d_problem seen = by_lines ? with_whole_lines(problem) : problem;
  Status status = encode(sums_pixels ? loader.b : loader.a, image_box(seen, type, image));
  if (!status.is_good()) return status;
  // Threads bring filters; but both maps are fetched.
  if constexpr (Loader::spans_groups) {
    loader.b = loader.a;
    return status;
  }
  return encode(sums_pixels ? loader.a : loader.b, matrix_box(whole, type, matrix));
}

// What threads copy, so many groups together.
template <class Kernel, class Encode>
Status fill_copies(typename Kernel::Loader::Params& loader, const tw_conv2d_problem& problem,
                   const MatmulProblem& matmul, std::int64_t together, const Encode& encode) {
  const Status status = fill_loader<typename Kernel::Loader>(loader, matmul, encode);
  const std::int64_t c = as_forward(problem).c / problem.groups;
  if constexpr (Kernel::Loader::spans_groups) {
    loader.line = by_lines(problem) ? static_cast<int>(problem.w.filter * c) : 0;
    loader.channels = divisor_of(loader.line != 0 ? padded_line(problem) : together * c);
    loader.filter_channels = divisor_of(together == 1 ? matmul.k : together * c);
    loader.group_channels = divisor_of(together == 1 ? matmul.k : c);
    loader.group_filters = divisor_of(matmul.n / together);
    if (together > 1) {
      loader.b.alignment =
          std::min(loader.b.alignment, alignment_of(nullptr, c, 1, 0, matmul.b.type));
    }
  } else {
    loader.channels = divisor_of(c);
    loader.filter_positions = static_cast<int>(positions_of(problem));
  }
  return status;
}

// Where tiles are of several groups, what sums them up again.
inline GroupSums group_sums(const Im2colAxes<1>& axes, const tw_conv2d_problem& problem,
                            const MatmulProblem& matmul, std::int64_t together) {
  GroupSums sums;
  if (together == 1) return sums;
  static_cast<Im2colAxes<1>&>(sums) = axes;
  sums.image = view_of(matmul.a, matmul, matmul.m);
  sums.filters = view_of(matmul.b, matmul, matmul.n);
  sums.group_filters = divisor_of(matmul.n / together);
  sums.group_channels = static_cast<unsigned>(problem.c / problem.groups);
  sums.positions = static_cast<unsigned>(positions_of(problem));
  return sums;
}

}  // namespace detail

struct Conv2dLaunch {
  using Problem = tw_conv2d_problem;

  template <class Kernel>
  static constexpr bool spans_groups = Kernel::Loader::spans_groups;
  template <class Kernel>
  static constexpr bool counts_channels = std::is_same_v<typename Kernel::Scales, ChannelCounts>;
  template <class Kernel>
  static constexpr Conv2dFacts facts = [] {
    if constexpr (DepthwiseKernel<Kernel>) {
      return Conv2dFacts{
          {Kernel::config, 0, 1, true, false, true, 0}, true, true, false, false, false};
    } else {
      return Conv2dFacts{
          facts_of<Kernel>,     !Kernel::Loader::elected,    false,
          spans_groups<Kernel>, Kernel::Loader::is_by_lines, counts_channels<Kernel>};
    }
  }();

  // The matmul as a kernel's loader counts its k.
  static MatmulProblem product(const Checked& checked, const Conv2dFacts& facts) {
    const Problem problem = with_patches(checked.as<Problem>());
    MatmulProblem matmul =
        as_matmul(facts.by_lines ? with_whole_lines(problem) : problem,
                  facts.by_threads || facts.spans_groups ? 1 : facts.product.config.tiling.k(),
                  groups_together(problem, facts));
    if (facts.spans_groups && by_lines(problem)) {
      matmul.k = problem.h.filter * padded_line(problem);
    }
    if (facts.by_lines) {
      matmul.b.pitch *= problem.w.filter;
      matmul.b.batch_pitch *= problem.w.filter;
    }
    matmul.epilogue = checked.product().epilogue;
    return matmul;
  }
  template <class Kernel>
  static MatmulProblem product(const Checked& checked) {
    MatmulProblem matmul = product(checked, facts<Kernel>);
    // Threads read B's blocks; nothing else of B is in memory.
    if (facts<Kernel>.spans_groups && !facts<Kernel>.by_threads) {
      matmul.b.pitch = matmul.k;
      matmul.b.batch_pitch = matmul.n * matmul.k;
    }
    return matmul;
  }

  template <class Kernel>
  static Status supports(const KernelProblem& taken, const LaunchOrder& order) {
    const MatmulProblem& matmul = taken.product;
    const Problem problem = with_patches(taken.checked.as<Problem>());
    Status found = check_operands<Kernel>(matmul);
    found.add(takes_sides<Kernel>(problem));
    if (!found.is_good()) return found;
    if (Status status = tw::supports<Kernel>(matmul, order); !status.is_good()) return status;
    // Kernels that read one layout have refused the others' operands already.
    if (problem.direction != direction_of(Kernel::config)) {
      return Status::refused(sentence("direction = {} must be {} for this kernel.",
                                      int{problem.direction}, int{direction_of(Kernel::config)}));
    }
    return Status::good();
  }

  // Whether a kernel takes the image's sides, the filter's and groups.
  template <class Kernel>
  static Status takes_sides(const Problem& problem) {
    if (Kernel::Sources::has_role && problem.groups > 1 && problem.epilogue.beta != 0.0f) {
      return Status::refused(
          sentence("This kernel stages C, whose columns groups = {} would shift; it must be 1.",
                   problem.groups));
    }
    if constexpr (Kernel::Loader::elected) {
      Problem seen = as_forward(problem);
      if (spans_groups<Kernel>) {
        const std::int64_t together = groups_together(problem, facts<Kernel>);
        const std::int64_t channels = together * (problem.c / problem.groups);
        if (together == 1 || channels != Kernel::tiling.k()) {
          return Status::refused(
              sentence("A tile takes {} groups of together {} channels; several must have {} in "
                       "this kernel.",
                       together, channels, Kernel::tiling.k()));
        }
        seen.groups /= together;
      }
      if (facts<Kernel>.by_lines) {
        if (Status status = detail::check_lines(problem); !status.is_good()) return status;
        seen = with_whole_lines(seen);
      }
      constexpr unsigned unit =
          counts_channels<Kernel> ? channels_of_product<Kernel::tiling> : Kernel::tiling.k();
      Status status = detail::check_im2col(seen, unit);
      if (!status.is_good()) return status;
    }
    if (facts<Kernel>.spans_groups && is_deep(problem)) {
      return Status::refused("Images of this kernel have two sides, and no depth.");
    }
    return Status::good();
  }

  // `encode` takes a MatrixBox or an Im2colBox.
  template <class Kernel, class Encode>
  static Status plan(typename kernel::WarpSpecialized<Kernel>::Params& params, MatmulGrid& grid,
                     const KernelProblem& taken, const LaunchOrder& order, unsigned max_clusters,
                     const Workspace& workspace, const Encode& encode) {
    using Loader = typename Kernel::Loader;
    if (Status status = supports<Kernel>(taken, order); !status.is_good()) return status;
    const Problem problem = with_patches(taken.checked.as<Problem>());
    const Problem seen = facts<Kernel>.by_lines ? with_whole_lines(problem) : problem;
    const MatmulProblem& matmul = taken.product;
    Status planned = tw::plan<Kernel>(
        params, grid, matmul, order, max_clusters, workspace, encode,
        [&](typename Loader::Params& loader) {
          // Nothing is summed up, and nothing loaded.
          if (matmul.k == 0) return detail::fill_loader<Loader>(loader, matmul, encode);
          detail::fill_axes(loader, seen, side_of);
          if constexpr (Loader::elected) {
            return detail::fill_im2col<Kernel>(loader, problem, encode);
          } else {
            return detail::fill_copies<Kernel>(loader, problem, matmul,
                                               groups_together(problem, facts<Kernel>), encode);
          }
        });
    if constexpr (spans_groups<Kernel>) {
      const GroupSums groups =
          detail::group_sums(params.loader, problem, product(taken.checked, facts<Kernel>),
                             groups_together(problem, facts<Kernel>));
      params.epilogue.epilogue.groups = groups;
      if constexpr (Loader::elected) {
        params.own = {groups.filters, groups.group_filters, groups.group_channels};
      }
    }
    if constexpr (counts_channels<Kernel>) {
      params.own = detail::count_channels(problem.c / problem.groups, Kernel::tiling.k(),
                                          channels_of_product<Kernel::tiling>);
    }
    if constexpr (facts<Kernel>.by_lines) {
      LineView& view = params.epilogue.output.view;
      view.line = detail::divisor_of(outputs_of(seen.w));
      view.outputs = static_cast<int>(outputs_of(problem.w));
      view.pixels = static_cast<int>(output_pixels(problem));
      static_cast<LineView&>(params.epilogue.epilogue) = view;
    }
    if constexpr (is_backward_data(Kernel::config)) {
      PixelView& view = params.epilogue.output.view;
      detail::fill_axes(view, problem, pixels_of);
      view.pixels = static_cast<int>(image_pixels(problem));
      static_cast<PixelView&>(params.epilogue.epilogue) = view;
      auto& tiles = detail::tile_map(params.schedule);
      detail::fill_axes(tiles, problem, side_of);
      const bool sums = matmul.k > 0 && problem.epilogue.alpha != 0.0f;
      tiles.position_k = sums ? static_cast<int>(matmul.k / positions_of(as_forward(problem))) : 0;
    }
    return planned;
  }

  // Depthwise, on the streaming skeleton: family/conv2d/depthwise_launch.h.
  template <DepthwiseKernel Kernel>
  static Status supports(const Checked& checked);
  template <DepthwiseKernel Kernel>
  static void plan(typename kernel::Streaming<Kernel>::Params& params, unsigned& ctas,
                   const Checked& checked, unsigned max_ctas);
};

}  // namespace tw

#include "tilewright/family/conv2d/depthwise_launch.h"
