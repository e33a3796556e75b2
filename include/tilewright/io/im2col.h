// TileIO: one operand is pixels of an image as a convolution's filter meets them (TMA im2col), the
// other a matrix or the filter as it is stored.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/divisor.h"
#include "tilewright/io/tma_loader.h"
#include "tilewright/isa/ptx/im2col.h"

namespace tw {

// Along one side of the image: output i meets it at i * stride - pad, and from there on at every
// `dilation` one for each of the filter's positions.
struct Im2colAxis {
  Divisor outputs;
  Divisor filter;
  int extent;  // of the image
  int stride;
  int pad;
  int dilation;
  int stored_step = 0;  // from one of the filter's positions to the next, in memory

  TW_DEVICE int first(unsigned output) const { return static_cast<int>(output) * stride - pad; }
};

// Of a K-major A, row i is output pixel i of (n, p, q); a k-tile is channels of one filter
// position, the next of the same position first, and B is the filter at that position. Of an
// MN-major A, which is a matrix, k counts output pixels, and column i of B is channel i at the
// filter position that the batch counts. Channels beyond the last, and pixels, are zero in both; of
// forward groups, which the batch counts, there are none beyond the last.
template <Tiling tiling>
class Im2colLoader : public TmaLoader<tiling> {
  using Base = TmaLoader<tiling>;
  static constexpr bool sums_positions = tiling.a_major == Major::K;
  static_assert(sums_positions || tiling.b_major == Major::MN,
                "Channels are what is contiguous in an image.");
  static_assert(tiling.group == 1 && tiling.few_rows == 0,
                "im2col loads whole tiles, each CTA for itself or its cluster.");

 public:
  // The maps: of the image, columns of pixels (c, w, h, n) or (c, w, h, depth, n); of the filter,
  // boxes (c, k, filter position), MN-major (k, c, filter position).
  struct Params : Base::Params {
    Im2colAxis axes[3];  // w, h, depth
    Divisor c_tiles;     // k-tiles of a filter position
    int group_channels;  // from one group to the next: channels,
    int group_filters;   // and filter positions of all its filters
    int first_stored;    // of the filter's positions
    unsigned deep;       // whether images have a depth
  };

  TW_DEVICE Im2colLoader(const Params& params, unsigned thread)
      : Base(params, thread), params_(params) {}

  template <class Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    constexpr ClusterShape cluster = tiling.cluster;
    if constexpr (sums_positions) {
      const auto [position, c_tile] = params_.c_tiles.divide(static_cast<unsigned>(k));
      const int c = static_cast<int>(c_tile * tiling.k());
      load_pixels<Base::a_tile>(stage.tiles(), &params_.a, stage.full(), tile.first_row(tiling.m),
                                tile.batch * params_.group_channels + c, position,
                                cluster.column(this->rank_), cluster.row_mask(this->rank_));
      this->load_b(stage, tile, c, tile.batch * params_.group_filters + stored(position));
    } else {
      const int pixel = k * static_cast<int>(tiling.k());
      this->load_a(stage, tile, pixel, 0);
      load_pixels<Base::b_tile>(stage.tiles() + tiling.a_bytes(), &params_.b, stage.full(),
                                tile.first_column(tiling.n), pixel,
                                static_cast<unsigned>(tile.batch), cluster.row(this->rank_),
                                cluster.column_mask(this->rank_));
    }
  }

 private:
  // Where the filter has a position: as it is counted, or the last ones first.
  TW_DEVICE int stored(unsigned position) const {
    if constexpr (tiling.b_major == Major::K) return static_cast<int>(position);
    int at = params_.first_stored;
    TW_UNROLL
    for (const Im2colAxis& axis : params_.axes) {
      at += static_cast<int>(axis.filter.split(position)) * axis.stored_step;
    }
    return at;
  }

  template <OperandTile operand, class... Place>
  TW_DEVICE void load_pixels(const Place&... place) const {
    if (params_.deep != 0)
      load_columns<operand, 5>(place...);
    else
      load_columns<operand, 4>(place...);
  }

  template <OperandTile operand, unsigned dimensions>
  TW_DEVICE void load_columns(SharedAddress destination, const TensorMap* map, SharedAddress full,
                              int first, int k, unsigned position, unsigned share,
                              unsigned mask) const {
    for_each_copy<operand>(destination, first, k, share, [&](SharedAddress to, int c, int pixel) {
      int at[dimensions] = {c};
      std::uint16_t offsets[dimensions - 2];
      unsigned outputs = static_cast<unsigned>(pixel), positions = position;
      TW_UNROLL
      for (unsigned i = 0; i < dimensions - 2; ++i) {
        const Im2colAxis& axis = params_.axes[i];
        at[i + 1] = axis.first(axis.outputs.split(outputs));
        offsets[i] = static_cast<std::uint16_t>(axis.filter.split(positions) * axis.dilation);
      }
      at[dimensions - 1] = static_cast<int>(outputs);
      constexpr auto hint = isa::CacheHint::EvictNormal;
      if constexpr (operand.shares == 1)
        isa::cp_async_bulk_tensor_load_im2col(to, map, full, at, offsets, hint);
      else
        isa::cp_async_bulk_tensor_load_im2col_multicast(to, map, full, at, offsets,
                                                        static_cast<std::uint16_t>(mask), hint);
    });
  }

  const Params& params_;
};

}  // namespace tw
