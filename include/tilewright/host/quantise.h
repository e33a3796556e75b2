// The launch that quantises a matrix.
#pragma once

#include <algorithm>

#include "tilewright/family/quantise/family.h"
#include "tilewright/family/quantise/kernel.h"
#include "tilewright/host/checked.h"

namespace tw {

struct QuantiseLaunch {
  using Family = QuantiseFamily;
  using Problem = Family::Problem;

  template <class Parts>
  static constexpr QuantiseConfig facts = {Parts::Stream::scale_rows};

  // `m` rows of each of `batch` matrices. Matrices whose rows lie one behind the other are one,
  // where no block reaches over two of them.
  struct Rows {
    explicit Rows(const Checked& checked) {
      const Problem& problem = checked.as<Problem>();
      m = problem.m;
      batch = problem.batch;
      const TensorLines &source = checked.tensor(Family::source),
                        &elements = checked.tensor(Family::elements),
                        &scales = checked.tensor(Family::scales);
      const std::int64_t scale_pitch = scales.by_rows ? scales.pitch : 1;
      if (batch > 1 && m % problem.scale_rows == 0 && m < (std::int64_t{1} << 30) / batch &&
          source.pitch >= problem.k && source.batch_pitch == m * source.pitch &&
          elements.batch_pitch == m * elements.pitch &&
          scales.batch_pitch == Family::scale_lines(problem) * scale_pitch) {
        m *= batch;
        batch = 1;
      }
    }
    std::int64_t tiles_of_one(std::int64_t tile_rows, std::int64_t k_blocks) const {
      return (m + tile_rows - 1) / tile_rows * k_blocks;
    }
    std::int64_t m, batch;
  };

  // Why a kernel cannot take the problem.
  template <class Parts>
  static Status supports(const Checked& checked) {
    const Problem& problem = checked.as<Problem>();
    if (problem.scale_rows != Parts::Stream::scale_rows) {
      return Status::refused(sentence("A scale is of {} rows; this kernel makes one for {}.",
                                      problem.scale_rows, Parts::Stream::scale_rows));
    }
    if (checked.is_empty()) return Status::good();
    const Rows rows(checked);
    const std::int64_t tiles =
        rows.tiles_of_one(Parts::Stream::tile_rows, Family::k_blocks(problem));
    if (tiles < (std::int64_t{1} << 31) / rows.batch) return Status::good();
    return Status::refused(
        sentence("The {} matrices of {} x {} have {} tiles each, but must have "
                 "fewer than 2^31 in all.",
                 rows.batch, rows.m, problem.k, tiles));
  }

  // `max_ctas`: how many the device holds at once. The kernel takes the problem, which is not
  // empty.
  template <class Parts>
  static void plan(typename kernel::Streaming<Parts>::Params& params, unsigned& ctas,
                   const Checked& checked, unsigned max_ctas) {
    using Stream = typename Parts::Stream;
    const Problem& problem = checked.as<Problem>();
    const TensorLines &source = checked.tensor(Family::source),
                      &elements = checked.tensor(Family::elements),
                      &scales = checked.tensor(Family::scales);
    const Rows rows(checked);
    const auto aligned = [&](const TensorLines& lines, unsigned bytes) {
      return alignment_of(lines.data, lines.pitch, rows.batch, lines.batch_pitch, lines.type) >=
             bytes;
    };
    params.stream = {source.data,
                     elements.data,
                     static_cast<float*>(scales.data),
                     source.pitch,
                     elements.pitch,
                     scales.by_rows ? scales.pitch : 1,
                     scales.by_rows ? 1 : scales.pitch,
                     source.batch_pitch,
                     elements.batch_pitch,
                     scales.batch_pitch,
                     static_cast<int>(rows.m),
                     static_cast<int>(problem.k),
                     static_cast<unsigned>(Family::k_blocks(problem)),
                     static_cast<unsigned>(rows.tiles_of_one(Stream::tile_rows, 1)),
                     source.type,
                     elements.type,
                     problem.powers_of_two != 0 ? BlockScale::power_of_two : BlockScale::real,
                     aligned(source, 16) && aligned(elements, Stream::length)};
    params.tiles = static_cast<unsigned>(
        rows.tiles_of_one(Stream::tile_rows, Family::k_blocks(problem)) * rows.batch);
    ctas = std::min(params.tiles, std::max(1u, max_ctas));
  }
};

}  // namespace tw
