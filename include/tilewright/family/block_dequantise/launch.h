// The launch that gives what block-scaled elements stand for: dequantise_on_host, on a GPU.
#pragma once

#include <algorithm>

#include "tilewright/family/block_dequantise/family.h"
#include "tilewright/family/block_dequantise/kernel.h"
#include "tilewright/launch/checked.h"

namespace tw {

struct BlockDequantiseLaunch {
  using Family = BlockDequantiseFamily;
  using Problem = Family::Problem;

  template <class Kernel>
  static constexpr BlockDequantiseConfig facts = Kernel::config;

  // Why a kernel cannot take the problem.
  template <class Kernel>
  static Status supports(const Checked& checked) {
    const Problem& problem = checked.as<Problem>();
    if (checked.is_empty() || tiles_of(problem) < std::int64_t{1} << 31) return Status::good();
    return Status::refused(
        sentence("A matrix of {} x {} has more than 2^31 - 1 tiles.", problem.m, problem.k));
  }

  // `max_ctas`: how many the device holds at once. The kernel takes the problem, which is not
  // empty.
  template <class Kernel>
  static void plan(typename kernel::Streaming<Kernel>::Params& params, unsigned& ctas,
                   const Checked& checked, unsigned max_ctas) {
    const Problem& problem = checked.as<Problem>();
    const TensorLines &elements = checked.tensor(Family::elements),
                      &values = checked.tensor(Family::values);
    const std::int64_t line_bytes =
        problem.m == 1 ? 0 : elements.pitch * bits_in(elements.type) / 8;
    const bool is_mx = Family::scale_type(problem) == ScaleType::Ue8m0;
    params.stream = {static_cast<const std::uint8_t*>(elements.data),
                     static_cast<const std::uint8_t*>(checked.tensor(Family::scales).data),
                     values.data,
                     line_bytes,
                     values.pitch,
                     static_cast<int>(problem.m),
                     static_cast<int>(problem.k),
                     static_cast<unsigned>(BlockPieces::column_tiles(problem.k)),
                     Family::scale_extent(problem),
                     CodeFormat::of(elements.type),
                     Family::scale_type(problem),
                     values.type,
                     is_mx ? 1.0f : problem.tensor_scale,
                     problem.scale_order == TW_SCALES_IN_ROWS,
                     (reinterpret_cast<std::uintptr_t>(elements.data) |
                      static_cast<std::uintptr_t>(line_bytes)) %
                             16 ==
                         0,
                     alignment_of(values.data, values.pitch, 1, 0, values.type) == 16};
    params.tiles = static_cast<unsigned>(tiles_of(problem));
    ctas = std::min(params.tiles, std::max(1u, max_ctas));
  }

 private:
  static std::int64_t tiles_of(const Problem& problem) {
    return BlockPieces::tiles(Family::scale_extent(problem), problem.k);
  }
};

}  // namespace tw
