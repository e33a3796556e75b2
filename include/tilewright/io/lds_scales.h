// TileIO: the scales of 128 of k by loads straight to LDS, for waves that multiply halves. Each
// wave brings those of its own rows and columns beside its share of a half, into a place of its
// own: it waits for them as for the half, and nobody else reads them.
#pragma once

#include <numeric>

#include "tilewright/io/lds_halves.h"
#include "tilewright/io/operand.h"
#include "tilewright/io/stage.h"

namespace tw {

// A scale is of one row of A, or of `b_rows` of B. The waves stand as waves_m by waves_n over a
// tile.
template <Tiling tiling, unsigned b_rows, unsigned waves_m, unsigned waves_n>
class LdsScales {
  static_assert(tiling.k() == 128, "Scales are of 128 of k, and so must be a stage.");
  static constexpr unsigned rows = tiling.m / waves_m / 2, columns = tiling.n / waves_n / 2;
  static_assert(rows <= 64 && b_rows % columns == 0,
                "A lane loads the scale of a row; the columns of half a wave's tile share one.");
  static constexpr unsigned floats = 2 * waves_m * waves_n * 64;  // for A, and for B

 public:
  static constexpr unsigned row_step = 1, column_step = std::gcd(tiling.n, b_rows);
  static constexpr unsigned loads = 1;  // a wave has so many for each half
  // No role brings them, and none is told of them.
  static constexpr Completion completion = Completion::WarpsArrive;
  static constexpr unsigned arrivals = 0;
  struct Tile {
    float a[floats];
    float b[floats];
  };
  // The scales of an operand are a matrix (rows,k / 128).
  struct Params {
    OperandView a;
    OperandView b;
  };
  template <unsigned stage_bytes = 0>
  struct Tensors {
    using Scales = SharedTile<float, in_stages(single(floats, 1), stage_bytes, sizeof(float))>;
    Scales a_scales;  // (place), of a ring (place,stage)
    Scales b_scales;
    TW_DEVICE explicit Tensors(SharedAddress tile)
        : a_scales(tile), b_scales(tile + unsigned{offsetof(Tile, b)}) {}
  };
  // Where those of half `half` of a wave's tile begin.
  static TW_DEVICE constexpr unsigned place(unsigned half, unsigned wave) {
    return (half * (waves_m * waves_n) + wave) * 64;
  }

  TW_DEVICE LdsScales(const Params& params, unsigned thread)
      : params_(params),
        a_steps_(params.a),
        b_steps_(params.b),
        wave_(isa::shuffle(thread / 64, 0)),
        lane_(thread % 64) {}

  // The scales of a tile's rows, or columns, from the first block of k on.
  struct Source {
    const float* first;
    std::uint32_t bytes;  // to the last row's, as far as offsets reach
  };
  struct Sources {
    Source a, b;
    int end;  // blocks of k from here on are not there
  };
  template <class WorkTile>
  TW_DEVICE Sources of(const WorkTile& tile) const {
    return {source(params_.a, tile.first_row(tiling.m), tile.batch),
            source(params_.b, tile.first_column(tiling.n) / int{b_rows}, tile.batch), params_.a.k};
  }
  // Offsets have 31 bits.
  TW_DEVICE bool is_direct() const { return reach(params_.a) < limit && reach(params_.b) < limit; }

  template <unsigned half, class Tensors>
  TW_DEVICE void issue_a(const Tensors& tensors, const Sources& sources, int k) const {
    issue(tensors.a_scales.address(place(half, wave_)), a_steps_, sources.a, row(half), k,
          sources.end);
  }
  template <unsigned half, class Tensors>
  TW_DEVICE void issue_b(const Tensors& tensors, const Sources& sources, int k) const {
    issue(tensors.b_scales.address(place(half, wave_)), b_steps_, sources.b, column(half), k,
          sources.end);
  }
  // Through registers, all of a stage.
  template <class Tensors, class WorkTile>
  TW_DEVICE void copy(const Tensors& tensors, const WorkTile& tile, int k) const {
    const int first_row = tile.first_row(tiling.m);
    const int first_column = tile.first_column(tiling.n) / int{b_rows};
    for (unsigned half = 0; half < 2; ++half) {
      store(tensors.a_scales.address(place(half, wave_) + lane_), params_.a,
            first_row + static_cast<int>(row(half)), k, tile.batch);
      store(tensors.b_scales.address(place(half, wave_) + lane_), params_.b,
            first_column + static_cast<int>(column(half)), k, tile.batch);
    }
  }

 private:
  // From block to block of k in floats, and from row to row in bytes.
  struct Steps {
    std::int64_t k;
    std::uint32_t row;
    TW_DEVICE explicit Steps(const OperandView& view)
        : k(isa::alone(view.k_stride)),
          row(isa::alone(static_cast<std::uint32_t>(view.row_stride) * 4)) {}
  };
  static constexpr std::int64_t limit = std::int64_t{1} << 31;
  static TW_DEVICE std::int64_t reach(const OperandView& view) {
    return std::int64_t{tiling.m + tiling.n} * 4 * view.row_stride;
  }
  static TW_DEVICE Source source(const OperandView& view, int first, int batch) {
    const std::int64_t bytes = (view.rows - first - 1) * view.row_stride * 4 + 4;
    return {
        static_cast<const float*>(view.data) + batch * view.batch_stride + first * view.row_stride,
        static_cast<std::uint32_t>(bytes < 0       ? 0
                                   : bytes < limit ? bytes
                                                   : limit)};
  }
  // The row, or the scale of columns, that the lane brings; counted from the tile's.
  TW_DEVICE unsigned row(unsigned half) const {
    return (2 * (wave_ / waves_n) + half) * rows + isa::opaque(lane_) % rows;
  }
  TW_DEVICE unsigned column(unsigned half) const {
    return (2 * (wave_ % waves_n) + half) * columns / b_rows;
  }
  static TW_DEVICE void issue(SharedAddress to, const Steps& steps, const Source& source,
                              unsigned index, int k, int end) {
    const BufferResource resource = {source.first + k * steps.k, k < end ? source.bytes : 0};
    isa::buffer_load_lds<4>(to, resource, index * steps.row);
  }
  static TW_DEVICE void store(SharedAddress to, const OperandView& view, int row, int k,
                              int batch) {
    const bool is_there = row < view.rows && k < view.k;
    const float* const from = static_cast<const float*>(view.data) + batch * view.batch_stride +
                              row * view.row_stride + k * view.k_stride;
    const float scale = is_there ? load_element<Space::Global>(from) : 0.0f;
    isa::store_shared_4(to, std::bit_cast<std::uint32_t>(scale));
  }

  const Params& params_;
  Steps a_steps_, b_steps_;
  unsigned wave_;
  unsigned lane_;
};

// A loader of halves whose scales come beside them.
template <class Loader, class Scales>
class ScaledHalves : public Loader {
 public:
  static constexpr unsigned a_loads = Loader::a_loads + Scales::loads;
  static constexpr unsigned b_loads = Loader::b_loads + Scales::loads;

  TW_DEVICE ScaledHalves(const typename Loader::Params& params,
                         const typename Scales::Params& scales, unsigned thread)
      : Loader(params, thread), scales_(scales, thread) {}

  struct Sources : Loader::Sources {
    typename Scales::Sources scales;
  };
  template <class WorkTile>
  TW_DEVICE Sources of(const WorkTile& tile) const {
    Sources sources = {Loader::of(tile), scales_.of(tile)};
    if (!scales_.is_direct()) sources.direct = 0;
    return sources;
  }
  static TW_DEVICE Sources until(const Sources& sources, int end) {
    Sources result = {Loader::until(sources, end), sources.scales};
    if (end < result.scales.end) result.scales.end = end;
    return result;
  }
  template <unsigned half, class Tensors>
  TW_DEVICE void issue_a(const Tensors& tensors, const Sources& sources, int k) const {
    Loader::template issue_a<half>(tensors, sources, k);
    scales_.template issue_a<half>(tensors, sources.scales, k);
  }
  template <unsigned half, class Tensors>
  TW_DEVICE void issue_b(const Tensors& tensors, const Sources& sources, int k) const {
    Loader::template issue_b<half>(tensors, sources, k);
    scales_.template issue_b<half>(tensors, sources.scales, k);
  }
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load_by_hand(const Stage& stage, const WorkTile& tile, int k) {
    scales_.copy(stage.tensors(), tile, k);
    Loader::load_by_hand(stage, tile, k);
  }

 private:
  Scales scales_;
};

}  // namespace tw
