// The launch of a quantiser to the block-scaled formats, which gives the bytes of quantise_on_host.
#pragma once

#include <algorithm>

#include "tilewright/family/block_quantise/family.h"
#include "tilewright/family/block_quantise/kernel.h"
#include "tilewright/launch/checked.h"
#include "tilewright/launch/scaled_on_host.h"

namespace tw {

struct BlockQuantiseLaunch {
  using Family = BlockQuantiseFamily;
  using Problem = Family::Problem;

  template <class Kernel>
  static constexpr BlockQuantiseConfig facts = Kernel::Stream::config;

  static BlockQuantiseProblem stated(const Checked& checked) {
    const Problem& problem = checked.as<Problem>();
    const TensorLines &source = checked.tensor(Family::source),
                      &elements = checked.tensor(Family::elements);
    return {problem.m,
            problem.k,
            source.data,
            source.pitch,
            source.type,
            elements.data,
            elements.pitch,
            elements.type,
            static_cast<std::uint8_t*>(checked.tensor(Family::scales).data),
            Family::scale_type(problem),
            static_cast<MxScale>(problem.rule),
            problem.tensor_scale,
            problem.scale_order == TW_SCALES_IN_ROWS};
  }

  // Why a kernel cannot take the problem.
  template <class Kernel>
  static Status supports(const Checked& checked) {
    using Stream = typename Kernel::Stream;
    const BlockQuantiseProblem problem = stated(checked);
    const std::int64_t bits = bits_in(problem.element_type);
    if (problem.element_type != Stream::config.element_type ||
        problem.scale_type != Stream::config.scale_type) {
      return Status::refused(
          sentence("The elements are {} with scales of {}; this kernel makes {} with scales of {}.",
                   name_of(problem.element_type), name_of(problem.scale_type),
                   name_of(Stream::config.element_type), name_of(Stream::config.scale_type)));
    }
    if (checked.is_empty()) return Status::good();
    if (problem.k * bits % 8 != 0) {
      return Status::refused(sentence("k is {}, but a line of {} must have whole bytes.", problem.k,
                                      name_of(problem.element_type)));
    }
    if (!problem.scales_in_rows && reinterpret_cast<std::uintptr_t>(problem.scales) % 4 != 0) {
      return Status::refused("Scales in blocks must begin at a multiple of 4 bytes.");
    }
    if (Stream::tiles(problem.extent(), problem.k) < std::int64_t{1} << 31) return Status::good();
    return Status::refused(
        sentence("A matrix of {} x {} has more than 2^31 - 1 tiles.", problem.m, problem.k));
  }

  // `max_ctas`: how many the device holds at once. The kernel takes the problem, which is not
  // empty.
  template <class Kernel>
  static void plan(typename kernel::Streaming<Kernel>::Params& params, unsigned& ctas,
                   const Checked& checked, unsigned max_ctas) {
    using Stream = typename Kernel::Stream;
    const BlockQuantiseProblem problem = stated(checked);
    const ScaleExtent extent = problem.extent();
    const std::int64_t line_bytes =
        problem.m == 1 ? 0 : problem.elements_pitch * bits_in(problem.element_type) / 8;
    params.stream = {
        problem.source,
        static_cast<std::uint8_t*>(problem.elements),
        problem.scales,
        problem.source_pitch,
        line_bytes,
        static_cast<int>(problem.m),
        static_cast<int>(problem.k),
        static_cast<unsigned>(Stream::column_tiles(problem.k)),
        static_cast<unsigned>(extent.k_blocks()),
        problem.scales_in_rows ? static_cast<unsigned>(extent.scales) : 0,
        problem.source_type,
        problem.rule,
        problem.tensor_scale,
        alignment_of(problem.source, problem.source_pitch, 1, 0, problem.source_type) == 16,
        (reinterpret_cast<std::uintptr_t>(problem.elements) |
         static_cast<std::uintptr_t>(line_bytes)) %
                16 ==
            0};
    params.tiles = static_cast<unsigned>(Stream::tiles(extent, problem.k));
    ctas = std::min(params.tiles, std::max(1u, max_ctas));
  }
};

}  // namespace tw
