// The launch that quantises a matrix.
#pragma once

#include <algorithm>

#include "tilewright/family/quantise.h"
#include "tilewright/host/quantise_problem.h"

namespace tw {

namespace detail {

// A CTA takes `tile_rows` rows of 128 columns at once.
inline Status check_tiles(const QuantiseProblem& problem, std::int64_t tile_rows) {
  if (problem.is_empty()) return Status::good();
  const std::int64_t rows = (problem.m + tile_rows - 1) / tile_rows;
  const std::int64_t tiles_of_one = rows * problem.k_blocks();
  if (tiles_of_one < (std::int64_t{1} << 31) / problem.batch) return Status::good();
  return Status::refused("The " + std::to_string(problem.batch) + " matrices of " +
                         std::to_string(problem.m) + " x " + std::to_string(problem.k) + " have " +
                         std::to_string(tiles_of_one) +
                         " tiles each, but must have fewer than 2^31 in all.");
}

}  // namespace detail

// `max_ctas`: how many the device holds at once. The problem has been checked, and is not empty.
template <class Parts>
Status plan(typename kernel::Streaming<Parts>::Params& params, unsigned& ctas,
            const QuantiseProblem& problem, unsigned max_ctas) {
  using Stream = typename Parts::Stream;
  const std::int64_t rows = (problem.m + Stream::tile_rows - 1) / Stream::tile_rows;
  const std::int64_t tiles_of_one = rows * problem.k_blocks();
  if (Status status = detail::check_tiles(problem, Stream::tile_rows); !status.is_good()) {
    return status;
  }
  const bool by_k = problem.scales_major == Major::K;
  const auto aligned = [&](const void* data, std::int64_t pitch, std::int64_t batch_pitch,
                           ElementType type, unsigned bytes) {
    return alignment_of(data, pitch, problem.batch, batch_pitch, type) >= bytes;
  };
  params.stream = {problem.source,
                   problem.elements,
                   problem.scales,
                   problem.source_pitch,
                   problem.elements_pitch,
                   by_k ? problem.scales_pitch : 1,
                   by_k ? 1 : problem.scales_pitch,
                   problem.source_batch_pitch,
                   problem.elements_batch_pitch,
                   problem.scales_batch_pitch,
                   static_cast<int>(problem.m),
                   static_cast<int>(problem.k),
                   static_cast<unsigned>(problem.k_blocks()),
                   static_cast<unsigned>(rows),
                   problem.source_type,
                   problem.element_type,
                   problem.rule,
                   aligned(problem.source, problem.source_pitch, problem.source_batch_pitch,
                           problem.source_type, 16) &&
                       aligned(problem.elements, problem.elements_pitch,
                               problem.elements_batch_pitch, problem.element_type, Stream::length)};
  params.tiles = static_cast<unsigned>(tiles_of_one * problem.batch);
  ctas = std::min(params.tiles, std::max(1u, max_ctas));
  return Status::good();
}

// Whether an instance whose scales and whose tiles are of so many rows takes the problem.
inline Status check(const QuantiseProblem& problem, unsigned scale_rows, unsigned tile_rows) {
  if (Status status = check(problem); !status.is_good()) return status;
  if (problem.scale_rows != scale_rows) {
    return Status::refused("A scale is of " + std::to_string(problem.scale_rows) +
                           " rows; this kernel makes one for " + std::to_string(scale_rows) + ".");
  }
  return detail::check_tiles(problem, tile_rows);
}

}  // namespace tw
