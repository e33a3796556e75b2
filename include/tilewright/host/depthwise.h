// The launch of a depthwise convolution.
#pragma once

#include <algorithm>

#include "tilewright/host/conv2d.h"

namespace tw {

// Why the kernel cannot compute a convolution; good if it can.
template <DepthwiseKernel Parts>
Status supports(const Conv2dProblem& problem, const MatmulOrder& order) {
  constexpr ElementType type = Parts::config.tiling.a_type, output = Parts::config.d_type;
  if (Status status = check(problem); !status.is_good()) return status;
  if (problem.type != type || problem.d_type != output || problem.groups != problem.c ||
      problem.direction != Conv2dDirection::Forward) {
    return Status::refused(std::string("This kernel convolves ") + name_of(type) + " into " +
                           name_of(output) + ", forward, each channel for itself; given are " +
                           name_of(problem.type) + " into " + name_of(problem.d_type) +
                           ", c = " + std::to_string(problem.c) +
                           " and groups = " + std::to_string(problem.groups) + ".");
  }
  constexpr std::int64_t most = Parts::Stream::filter_room / 2;
  // So that tiles, which are of at least 256 elements but at the edges, are fewer than 2^32.
  constexpr std::int64_t most_elements = (std::int64_t{1} << 39) - 1;
  return detail::check_ranges(
      {{"n * p * q * k", problem.n * problem.pixels() * problem.k, 0, most_elements},
       {"The filter's number of positions", problem.positions(), 1, most},
       {"split_k", order.split_k, 1, 1}});
}

// Of a problem that the kernel supports and that is not empty. `max_ctas`: how many the device
// holds at once.
template <DepthwiseKernel Parts>
void plan(typename kernel::Streaming<Parts>::Params& params, unsigned& ctas,
          const Conv2dProblem& problem, unsigned max_ctas) {
  using Stream = typename Parts::Stream;
  constexpr unsigned rounds = 4;  // of CTAs at most: the last is then a small share of all
  const auto in_parts = [](auto count, auto by) { return unsigned((count + by - 1) / by); };
  const Conv2dAxis& w = problem.w;
  const auto positions = unsigned(problem.positions());
  const unsigned fit = Stream::filter_room / positions;  // columns, whose filters a CTA keeps
  const bool in_vectors = problem.k == problem.c && fit >= 2 * Stream::vector &&
                          alignment_of(problem.image, problem.c, 1, 0, problem.type) == 16 &&
                          alignment_of(problem.d, problem.k, 1, 0, problem.d_type) == 16;
  const unsigned length = in_vectors ? Stream::vector : 1;
  const unsigned most = std::min(Stream::block_columns / length, fit / length - 1);  // and a gap
  const unsigned blocks = in_parts(problem.k / length, most);
  const unsigned lanes = in_parts(problem.k / length, blocks);
  const unsigned strips = in_parts(w.outputs(), Stream::pixels);
  const auto all_strips = unsigned(problem.n * problem.pixels() / w.outputs() * strips);
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
                   .epilogue = problem.epilogue};
  detail::fill_axes(params.stream.sides, problem, side_of);
  params.tiles = blocks * in_parts(all_strips, Stream::threads / lanes);
  ctas = std::max(blocks, std::min(params.tiles, rounds * max_ctas) / blocks * blocks);
}

}  // namespace tw
