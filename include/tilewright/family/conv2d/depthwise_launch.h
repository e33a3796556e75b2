// The launch of a depthwise convolution; family/conv2d/launch.h includes it.
#pragma once

#include "tilewright/family/conv2d/launch.h"

namespace tw {

template <DepthwiseKernel Kernel>
Status Conv2dLaunch::supports(const Checked& checked) {
  constexpr ElementType type = Kernel::config.tiling.a_type, output = Kernel::config.d_type;
  const Problem& problem = checked.as<Problem>();
  const auto given = static_cast<ElementType>(problem.type);
  const auto d_type = static_cast<ElementType>(problem.d_type);
  Status found = Status::good();
  for (const bool holds : {given == type, d_type == output, problem.groups == problem.c,
                           problem.direction == TW_FORWARD}) {
    found.unless(holds, [&] {
      return sentence(
          "This kernel convolves {} into {}, forward, each channel for itself; given are {} into "
          "{}, c = {} and groups = {}.",
          name_of(type), name_of(output), name_of(given), name_of(d_type), problem.c,
          problem.groups);
    });
  }
  if (!found.is_good()) return found;
  if (problem.epilogue.gated != 0) {
    return Status::refused("This kernel stores a column for each that it sums up: no gate.");
  }
  constexpr std::int64_t most = Kernel::Stream::filter_room / 2;
  // So that tiles, which are of at least 256 elements but at the edges, are fewer than 2^32.
  constexpr std::int64_t most_elements = (std::int64_t{1} << 39) - 1;
  return check_ranges({{"n * p * q * k", output_pixels(problem) * problem.k, 0, most_elements},
                       {"The filter's number of positions", positions_of(problem), 1, most}});
}

// The kernel supports the problem, which is not empty. `max_ctas`: how many the device holds at
// once.
template <DepthwiseKernel Kernel>
void Conv2dLaunch::plan(typename kernel::Streaming<Kernel>::Params& params, unsigned& ctas,
                        const Checked& checked, unsigned max_ctas) {
  using Stream = typename Kernel::Stream;
  constexpr unsigned rounds = 4;  // waves of CTAs at most: the last is then a small share of all
  const Problem& problem = checked.as<Problem>();
  const auto in_parts = [](auto count, auto by) { return unsigned((count + by - 1) / by); };
  const auto in_lines_of_16_bytes = [&](unsigned tensor) {
    const TensorLines& lines = checked.tensor(tensor);
    return alignment_of(lines.data, lines.pitch, 1, 0, lines.type) == 16;
  };
  const tw_conv2d_axis& w = problem.w;
  const auto positions = unsigned(positions_of(problem));
  const unsigned fit = Stream::filter_room / positions;  // columns, whose filters a CTA keeps
  const bool in_vectors = problem.k == problem.c && fit >= 2 * Stream::vector &&
                          in_lines_of_16_bytes(Conv2dFamily::image) &&
                          in_lines_of_16_bytes(Conv2dFamily::d);
  const unsigned length = in_vectors ? Stream::vector : 1;
  const unsigned most = std::min(Stream::block_columns / length, fit / length - 1);  // less a gap
  const unsigned blocks = in_parts(problem.k / length, most);
  const unsigned lanes = in_parts(problem.k / length, blocks);
  const unsigned strips = in_parts(outputs_of(w), Stream::pixels);
  const auto all_strips = unsigned(output_pixels(problem) / outputs_of(w) * strips);
  const bool square = w.filter == 3 && problem.h.filter == 3 && problem.depth.filter == 1;
  const bool fixed = w.dilation == 1 && w.stride <= 2 && (square || w.filter * w.stride != 3);
  params.stream = {.image = problem.image,
                   .filter = problem.filter,
                   .d = problem.d,
                   .sides = {},
                   .strips = Divisor(strips),
                   .lanes = Divisor(lanes),
                   .blocks = Divisor(blocks),
                   .positions = Divisor(positions),
                   .multiplier = detail::divisor_of(problem.k / problem.c),
                   .channels = int(problem.c),
                   .columns = int(problem.k),
                   .all_strips = all_strips,
                   .length = length,
                   .fixed = fixed ? unsigned(10 * w.filter + w.stride) : 0,
                   .epilogue = checked.product().epilogue};
  detail::fill_axes(params.stream.sides, problem, side_of);
  params.tiles = blocks * in_parts(all_strips, Stream::threads / lanes);
  ctas = std::max(blocks, std::min(params.tiles, rounds * max_ctas) / blocks * blocks);
}

}  // namespace tw
