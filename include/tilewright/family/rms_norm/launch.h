// The launch that normalises the rows of a matrix.
#pragma once

#include <algorithm>

#include "tilewright/family/rms_norm/family.h"
#include "tilewright/family/rms_norm/kernel.h"
#include "tilewright/launch/row_alignment.h"

namespace tw {

struct RmsNormLaunch {
  using Family = RmsNormFamily;

  template <class Kernel>
  static constexpr RmsNormConfig facts = Kernel::Stream::config;

  // Why a kernel cannot take the problem.
  template <class Kernel>
  static Status supports(const Checked& checked) {
    using Stream = typename Kernel::Stream;
    const std::int64_t k = checked.as<Family::Problem>().k;
    if (k % Stream::length != 0 || k > Stream::most_columns) {
      return Status::refused(sentence("k = {} must be a multiple of {}, at most {}.", k,
                                      Stream::length, Stream::most_columns));
    }
    return rows_begin_at_16_bytes(
        checked, {Family::source, Family::weight, Family::residual, Family::output, Family::sum});
  }

  // `max_ctas`: how many the device holds at once. The kernel takes the problem, which is not
  // empty.
  template <class Kernel>
  static void plan(typename kernel::Streaming<Kernel>::Params& params, unsigned& ctas,
                   const Checked& checked, unsigned max_ctas) {
    const Family::Problem& problem = checked.as<Family::Problem>();
    const auto matrix = [&](unsigned tensor) {
      const TensorLines& lines = checked.tensor(tensor);
      return typename Kernel::Stream::Matrix{lines.data,
                                             lines.pitch / std::int64_t{Kernel::Stream::length}};
    };
    params.stream = {matrix(Family::source),
                     matrix(Family::residual),
                     matrix(Family::output),
                     matrix(Family::sum),
                     problem.weight,
                     static_cast<unsigned>(problem.k),
                     1.0f / static_cast<float>(problem.k),
                     problem.epsilon,
                     checked.tensor(Family::source).type};
    params.tiles = static_cast<unsigned>(problem.m);
    // Rows that employ all threads have a CTA each, up to a number that every target can launch:
    // who is done makes room for the next. Shorter ones are taken one after the other, and so are
    // those of which an SM holds two.
    using Stream = typename Kernel::Stream;
    const bool each = Stream::pieces <= 4 && problem.k >= Stream::threads * Stream::length;
    ctas = std::min(params.tiles, each ? 1u << 20 : std::max(1u, max_ctas));
  }
};

}  // namespace tw
