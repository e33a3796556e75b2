// The launch that packs four-bit weights.
#pragma once

#include <algorithm>

#include "tilewright/family/pack_weights/family.h"
#include "tilewright/family/pack_weights/kernel.h"
#include "tilewright/launch/row_alignment.h"

namespace tw {

struct PackWeightsLaunch {
  using Family = PackWeightsFamily;
  using Problem = Family::Problem;

  template <class Kernel>
  static constexpr PackWeightsConfig facts = Kernel::config;

  // Why a kernel cannot take the problem.
  template <class Kernel>
  static Status supports(const Checked& checked) {
    if (checked.is_empty()) return Status::good();
    const Problem& problem = checked.as<Problem>();
    if (tiles_of(problem) >= std::int64_t{1} << 31) {
      return Status::refused(
          sentence("{} x {} x {} weights have more than 2^31 - 1 blocks of {} x {}.", problem.batch,
                   problem.n, problem.k, PackedWeights::rows, PackedWeights::k));
    }
    return rows_begin_at_16_bytes(checked, {Family::packed});
  }

  // `max_ctas`: how many the device holds at once. The kernel takes the problem, which is not
  // empty.
  template <class Kernel>
  static void plan(typename kernel::Streaming<Kernel>::Params& params, unsigned& ctas,
                   const Checked& checked, unsigned max_ctas) {
    const Problem& problem = checked.as<Problem>();
    const auto matrix = [&](unsigned tensor) -> PackWeightsStream::Matrix {
      const TensorLines& lines = checked.tensor(tensor);
      if (lines.by_rows) return {lines.data, lines.pitch, 1, lines.batch_pitch};
      return {lines.data, 1, lines.pitch, lines.batch_pitch};
    };
    const PackedWeights layout = Family::layout(problem);
    const std::int64_t k_blocks = PackedWeights::k_blocks(problem.k);
    params.stream = {matrix(Family::codes),
                     matrix(Family::scales),
                     matrix(Family::zeros),
                     static_cast<std::uint8_t*>(checked.tensor(Family::packed).data),
                     layout,
                     static_cast<unsigned>(k_blocks),
                     static_cast<unsigned>(k_blocks * PackedWeights::row_blocks(problem.n)),
                     static_cast<int>(problem.n),
                     static_cast<int>(problem.k),
                     static_cast<int>(problem.group),
                     static_cast<int>(Family::groups(problem)),
                     static_cast<int>(problem.exponent),
                     static_cast<unsigned>(problem.zero_offset),
                     problem.order == TW_CODES_OF_AWQ};
    params.tiles = static_cast<unsigned>(tiles_of(problem));
    ctas = std::min(params.tiles, std::max(1u, max_ctas));
  }

 private:
  static std::int64_t tiles_of(const Problem& problem) {
    return saturated_product(problem.batch, PackedWeights::row_blocks(problem.n),
                             PackedWeights::k_blocks(problem.k));
  }
};

}  // namespace tw
