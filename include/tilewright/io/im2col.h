// TileIO: A is pixels of an image as a convolution's filter meets them (TMA im2col), B is the
// filter as it is stored.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/divisor.h"
#include "tilewright/io/tma_loader.h"
#include "tilewright/isa/ptx/im2col.h"

namespace tw {

// Along h or w: output i meets the image at i * stride - pad, and from there on at every `dilation`
// one for each of the filter's positions.
struct Im2colAxis {
  Divisor outputs;
  int stride;
  int pad;
  int dilation;

  TW_DEVICE int first(unsigned output) const { return static_cast<int>(output) * stride - pad; }
};

// Row i of A is output pixel i of (n, p, q); a k-tile is channels of one filter position, the next
// of the same (r, s) first. Channels beyond the last are zero in both operands.
template <Tiling tiling>
class Im2colLoader : public TmaLoader<tiling> {
  using Base = TmaLoader<tiling>;
  static_assert(tiling.a_major == Major::K && tiling.b_major == Major::K,
                "Channels are what is contiguous in an image and in a filter.");
  static_assert(tiling.group == 1 && tiling.few_rows == 0,
                "im2col loads whole tiles, each CTA for itself or its cluster.");

 public:
  // The maps: `a` of columns of pixels (c, w, h, n); `b` of boxes (c, k, filter position).
  struct Params : Base::Params {
    Im2colAxis h;
    Im2colAxis w;
    Divisor filter_w;
    Divisor c_tiles;  // k-tiles of a filter position
  };

  TW_DEVICE Im2colLoader(const Params& params, unsigned thread)
      : Base(params, thread), params_(params) {}

  template <class Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    const auto [position, c_tile] = params_.c_tiles.divide(static_cast<unsigned>(k));
    const auto [r, s] = params_.filter_w.divide(position);
    const std::uint16_t offsets[2] = {static_cast<std::uint16_t>(s * params_.w.dilation),
                                      static_cast<std::uint16_t>(r * params_.h.dilation)};
    const int c = static_cast<int>(c_tile * tiling.k());
    const unsigned share = tiling.cluster.column(this->rank_) * Base::box_a().outer;
    const unsigned pixel = static_cast<unsigned>(tile.m) * tiling.m + share;
    const auto [line, q] = params_.w.outputs.divide(pixel);
    const auto [n, p] = params_.h.outputs.divide(line);
    const SharedAddress a = stage.tiles() + share * Tiling::span_bytes;
    TW_UNROLL
    for (unsigned span = 0; span < tiling.spans; ++span) {
      const SharedAddress to = a + span * (tiling.m * Tiling::span_bytes);
      const int at[4] = {c + static_cast<int>(span * tiling.span_k()), params_.w.first(q),
                         params_.h.first(p), static_cast<int>(n)};
      constexpr auto hint = isa::CacheHint::EvictNormal;
      if constexpr (tiling.cluster.n == 1)
        isa::cp_async_bulk_tensor_load_im2col(to, &params_.a, stage.full(), at, offsets, hint);
      else
        isa::cp_async_bulk_tensor_load_im2col_multicast(
            to, &params_.a, stage.full(), at, offsets,
            static_cast<std::uint16_t>(tiling.cluster.row_mask(this->rank_)), hint);
    }
    this->load_b(stage, tile, c, static_cast<int>(position));
  }

 private:
  const Params& params_;
};

}  // namespace tw
