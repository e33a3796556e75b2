// The launch that adds up the rows of tokens.
#pragma once

#include <algorithm>

#include "tilewright/family/combine/family.h"
#include "tilewright/family/combine/kernel.h"
#include "tilewright/launch/row_alignment.h"

namespace tw {

struct CombineLaunch {
  using Family = CombineFamily;

  template <class Kernel>
  static constexpr CombineConfig facts = Kernel::config;

  static std::int64_t column_tiles(const Family::Problem& problem) {
    constexpr std::int64_t columns = CombineStream::tile_columns;
    return (problem.columns + columns - 1) / columns;
  }

  // Why a kernel cannot take the problem.
  template <class Kernel>
  static Status supports(const Checked& checked) {
    const Family::Problem& problem = checked.as<Family::Problem>();
    constexpr std::int64_t length = CombineStream::length;
    if (problem.columns % length != 0) {
      return Status::refused(
          sentence("columns = {} must be a multiple of {}.", problem.columns, length));
    }
    const std::int64_t tiles = column_tiles(problem);
    if (tiles > 0 && problem.tokens >= (std::int64_t{1} << 31) / tiles) {
      return Status::refused(sentence(
          "{} tokens of {} columns have {} tiles each, but must have fewer than 2^31 in all.",
          problem.tokens, problem.columns, tiles));
    }
    return rows_begin_at_16_bytes(checked, {Family::source, Family::addend, Family::output});
  }

  // `max_ctas`: how many the device holds at once. The kernel takes the problem, which is not
  // empty.
  template <class Kernel>
  static void plan(typename kernel::Streaming<Kernel>::Params& params, unsigned& ctas,
                   const Checked& checked, unsigned max_ctas) {
    const Family::Problem& problem = checked.as<Family::Problem>();
    const auto matrix = [&](unsigned tensor) {
      const TensorLines& lines = checked.tensor(tensor);
      return CombineStream::Matrix{lines.data, lines.pitch};
    };
    const auto tiles = static_cast<unsigned>(column_tiles(problem));
    params.stream = {.source = matrix(Family::source),
                     .addend = matrix(Family::addend),
                     .output = matrix(Family::output),
                     .weights = problem.weights,
                     .places = problem.places,
                     .columns = static_cast<unsigned>(problem.columns),
                     .column_tiles = tiles,
                     .k = static_cast<unsigned>(problem.k),
                     .rows = static_cast<unsigned>(problem.rows),
                     .type = checked.tensor(Family::source).type};
    params.tiles = static_cast<unsigned>(problem.tokens) * tiles;
    ctas = std::min(params.tiles, std::max(1u, max_ctas));
  }
};

}  // namespace tw
