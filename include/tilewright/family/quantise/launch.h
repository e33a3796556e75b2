// The launch that quantises a matrix, or copies it.
#pragma once

#include <algorithm>

#include "tilewright/family/quantise/family.h"
#include "tilewright/family/quantise/kernel.h"
#include "tilewright/launch/checked.h"

namespace tw {

struct QuantiseLaunch {
  using Family = QuantiseFamily;
  using Problem = Family::Problem;

  template <class Kernel>
  static constexpr QuantiseConfig facts = Kernel::config;

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
      const std::int64_t block = std::max<std::int64_t>(1, problem.scale_rows);
      if (batch > 1 && m % block == 0 && m < (std::int64_t{1} << 30) / batch &&
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

  template <class Stream>
  static std::int64_t tiles_of_one(const Checked& checked, const Rows& rows) {
    if constexpr (Stream::scale_rows == 0) {
      const std::int64_t pieces = rows.m * row_pieces(checked.tensor(Family::source));
      return (pieces + Stream::tile_pieces - 1) / Stream::tile_pieces;
    } else {
      return rows.tiles_of_one(Stream::tile_rows, Family::k_blocks(checked.as<Problem>()));
    }
  }
  static std::int64_t halves(const TensorLines& lines, std::int64_t elements) {
    return elements * (bytes_of(lines.type) / 2);
  }
  static std::int64_t row_pieces(const TensorLines& lines) {
    return (halves(lines, lines.length) + CopyStream::length - 1) / CopyStream::length;
  }

  // Why a kernel cannot take the problem.
  template <class Kernel>
  static Status supports(const Checked& checked) {
    const Problem& problem = checked.as<Problem>();
    if (problem.scale_rows != Kernel::Stream::scale_rows) {
      if (Kernel::Stream::scale_rows == 0 || Family::copies(problem)) {
        return Status::refused(Family::copies(problem) ? "This kernel makes scales."
                                                       : "This kernel copies: it makes no scales.");
      }
      return Status::refused(sentence("A scale is of {} rows; this kernel makes one for {}.",
                                      problem.scale_rows, Kernel::Stream::scale_rows));
    }
    if (checked.is_empty()) return Status::good();
    const Rows rows(checked);
    const std::int64_t tiles = tiles_of_one<typename Kernel::Stream>(checked, rows);
    // Pieces of a matrix that is copied are counted, too.
    constexpr std::int64_t most =
        (std::int64_t{1} << 31) / (Kernel::Stream::scale_rows == 0 ? CopyStream::tile_pieces : 1);
    if (tiles < most / rows.batch) return Status::good();
    return Status::refused(sentence(
        "The {} matrices of {} x {} have {} tiles each, but must have "
        "fewer than {} in all.",
        rows.batch, rows.m, problem.k, tiles, Kernel::Stream::scale_rows == 0 ? "2^21" : "2^31"));
  }

  // `max_ctas`: how many the device holds at once. The kernel takes the problem, which is not
  // empty.
  template <class Kernel>
  static void plan(typename kernel::Streaming<Kernel>::Params& params, unsigned& ctas,
                   const Checked& checked, unsigned max_ctas) {
    using Stream = typename Kernel::Stream;
    const Problem& problem = checked.as<Problem>();
    const TensorLines &source = checked.tensor(Family::source),
                      &elements = checked.tensor(Family::elements),
                      &scales = checked.tensor(Family::scales);
    const Rows rows(checked);
    const std::int64_t tiles = tiles_of_one<Stream>(checked, rows);
    params.tiles = static_cast<unsigned>(tiles * rows.batch);
    ctas = std::min(params.tiles, std::max(1u, max_ctas));
    const auto aligned = [&](const TensorLines& lines, unsigned bytes) {
      return alignment_of(lines.data, lines.pitch, rows.batch, lines.batch_pitch, lines.type) >=
             bytes;
    };
    if constexpr (Stream::scale_rows == 0) {
      const auto* const first = static_cast<const std::uint16_t*>(source.data);
      const std::int64_t pieces = row_pieces(source);
      params.stream = {first,
                       first + source.bytes() / 2,
                       static_cast<std::uint16_t*>(elements.data),
                       halves(source, source.pitch),
                       halves(source, source.batch_pitch),
                       halves(elements, elements.pitch),
                       halves(elements, elements.batch_pitch),
                       Divisor(static_cast<unsigned>(pieces)),
                       static_cast<unsigned>(rows.m * pieces),
                       static_cast<unsigned>(tiles),
                       halves(source, source.length),
                       aligned(elements, 16)};
    } else {
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
    }
  }
};

}  // namespace tw
