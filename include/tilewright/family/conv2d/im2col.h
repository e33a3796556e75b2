// TileIO: one operand is pixels of an image as a convolution's filter meets them (TMA im2col), the
// other a matrix or the filter as it is stored.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/family/conv2d/im2col_axes.h"
#include "tilewright/io/tma_loader.h"
#include "tilewright/isa/ptx/im2col.h"

namespace tw {

// Where boxes are as narrow as a launch says: channels of a k-tile, in whole products, and the
// bytes of a stage. What lines of shared memory have beyond them stays as it was, and is not
// multiplied.
template <bool narrow>
struct KTileChannels {};
template <>
struct KTileChannels<true> {
  unsigned tile_channels;
  unsigned stage_bytes;
};

// Where A is K-major, row i is output pixel i of (n, p, q); a k-tile is channels of one filter
// position, the next of the same position first, and B is the filter at that position. Where A is
// MN-major, it is a matrix, k counts output pixels, and column i of B is channel i at the filter
// position that the batch counts. Channels beyond the last, and pixels, are zero in both; forward
// groups, which the batch counts, have none beyond the last.
template <Tiling tiling, bool narrow = false>
class Im2colLoader : public TmaLoader<tiling> {
  using Base = TmaLoader<tiling>;
  static constexpr bool sums_positions = tiling.a_major == Major::K;
  static_assert(sums_positions || tiling.b_major == Major::MN,
                "Channels are what is contiguous in an image.");
  static_assert(tiling.group == 1 && tiling.loaded_rows == 0,
                "im2col loads whole tiles, each CTA for itself or its cluster.");
  static_assert(!narrow || (tiling.spans == 1 && tiling.b_major == Major::K),
                "A narrow box is a k-tile of one span of channels.");

 public:
  static constexpr bool spans_groups = false;  // true: a tile's columns may be of several groups
  static constexpr bool is_by_lines = false;   // true: pixels of three positions are loaded once
  static constexpr bool is_narrow = narrow;    // true: boxes have as many channels as a k-tile
  // Gradients by the image have no registers left for copies before the cluster has met.
  static constexpr bool loads_own_first =
      Base::loads_own_first && tiling.a_major == tiling.b_major;
  // The maps: of the image, columns of pixels (c, w, h, n) or (c, w, h, depth, n); of the filter,
  // boxes (c, k, filter position), MN-major (k, c, filter position).
  struct Params : Base::Params, Im2colAxes<phases_of(tiling)>, KTileChannels<narrow> {
    Divisor c_tiles;     // k-tiles of a filter position
    int group_channels;  // channels from one group to the next
    int group_filters;   // filter positions of all filters of a group
    unsigned deep;       // whether images have a depth
  };

  TW_DEVICE Im2colLoader(const Params& params, unsigned thread)
      : Base(params, thread), params_(params) {}

  TW_DEVICE unsigned stage_bytes() const { return params_.stage_bytes; }

  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    load_parts<true, true>(stage, tile, k);
  }
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load_own(const Stage& stage, const WorkTile& tile, int k) {
    load_parts<Base::a_is_own, Base::b_is_own>(stage, tile, k);
  }
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load_rest(const Stage& stage, const WorkTile& tile, int k) {
    load_parts<!Base::a_is_own, !Base::b_is_own>(stage, tile, k);
  }

 protected:
  template <bool with_a, bool with_b, StageToFill Stage, class WorkTile>
  TW_DEVICE void load_parts(const Stage& stage, const WorkTile& tile, int k) {
    constexpr ClusterShape cluster = tiling.cluster;
    if constexpr (sums_positions) {
      const auto [position, c_tile] = params_.c_tiles.divide(static_cast<unsigned>(k));
      const auto [phase, in_phase] = params_.batch(tile.batch);
      const int c = first_channel(c_tile), group = static_cast<int>(in_phase);
      if constexpr (with_a) {
        load_image(stage, tile, group * params_.group_channels + c, position, phase);
      }
      if constexpr (with_b) {
        int stored = static_cast<int>(position);
        if constexpr (tiling.b_major == Major::MN) stored = params_.stored(position, phase);
        this->load_b(stage, tile, c, group * params_.group_filters + stored);
      }
    } else {
      const int pixel = k * static_cast<int>(tiling.k());
      if constexpr (with_a) this->load_a(stage, tile, pixel, 0);
      if constexpr (with_b) {
        load_pixels<Base::b_tile>(stage.tensors().b, &params_.b, stage.full(),
                                  tile.first_column(tiling.n), pixel,
                                  static_cast<unsigned>(tile.batch), 0, cluster.row(this->rank_),
                                  cluster.column_mask(this->rank_));
      }
    }
  }
  TW_DEVICE int first_channel(unsigned c_tile) const {
    if constexpr (narrow)
      return static_cast<int>(c_tile * params_.tile_channels);
    else
      return static_cast<int>(c_tile * tiling.k());
  }
  // Loads A: the channels from c on at a filter position.
  template <class Stage, class WorkTile>
  TW_DEVICE void load_image(const Stage& stage, const WorkTile& tile, int c, unsigned position,
                            unsigned phase) const {
    constexpr ClusterShape cluster = tiling.cluster;
    load_pixels<Base::a_tile>(stage.tensors().a, &params_.a, stage.full(), tile.first_row(tiling.m),
                              c, position, phase, cluster.column(this->rank_),
                              cluster.row_mask(this->rank_));
  }

 private:
  template <OperandTile operand, class... Place>
  TW_DEVICE void load_pixels(const Place&... place) const {
    if (params_.deep != 0)
      load_columns<operand, 5>(place...);
    else
      load_columns<operand, 4>(place...);
  }

  template <OperandTile operand, unsigned dimensions, class Tensor>
  TW_DEVICE void load_columns(const Tensor& destination, const TensorMap* map, CopySignal full,
                              int first, int k, unsigned position, unsigned phase, unsigned share,
                              unsigned mask) const {
    for_each_copy<operand>(destination, first, k, share, [&](SharedAddress to, int c, int pixel) {
      int at[dimensions] = {c};
      std::uint16_t offsets[dimensions - 2];
      unsigned outputs = static_cast<unsigned>(pixel), positions = position, phases = phase;
      TW_UNROLL
      for (unsigned i = 0; i < dimensions - 2; ++i) {
        const auto& axis = params_.axes[i];
        const auto& own = axis.phase(phases);
        const auto offset = own.filter.split(positions) * static_cast<unsigned>(axis.dilation);
        at[i + 1] = axis.first(axis.outputs.split(outputs));
        offsets[i] = static_cast<std::uint16_t>(offset + static_cast<unsigned>(own.offset));
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

// The image alone, forward: groups that the batch counts, or several of them as one, have one
// k-tile of channels.
template <Tiling tiling>
struct Im2colImageLoader : Im2colLoader<tiling> {
  using Im2colLoader<tiling>::Im2colLoader;
  static_assert(tiling.a_major == Major::K && tiling.b_major == Major::K);
  static constexpr bool spans_groups = true;
  static constexpr bool loads_own_first = false;  // the filter is no part of 'load'

  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int position) {
    this->load_image(stage, tile, tile.batch * int{tiling.k()}, static_cast<unsigned>(position), 0);
  }
};

}  // namespace tw
