// TileIO: the scales of a stage, brought by one warp that has few instructions to spare: where they
// lie is computed once for each tile, and every stage steps on from the one before.
#pragma once

#include "tilewright/io/scale_loader.h"

namespace tw {

// A lane has a row of every 32, and the first lanes a scale of B each. `b_rows` rows of B share
// one. It takes more registers than a ScaleLoader.
template <Tiling tiling, unsigned b_rows>
class ScaleSteps : public ScaleLoader<tiling, b_rows, 1> {
  using Base = ScaleLoader<tiling, b_rows, 1>;
  using Base::params_;
  static constexpr unsigned lanes = Base::arrivals;
  static constexpr unsigned lane_rows = tiling.m / lanes;
  static constexpr unsigned columns = tiling.n / Base::b_columns;
  static_assert(tiling.m % lanes == 0 && columns <= lanes,
                "A lane has as many rows as any other, and at most one scale of B.");

 public:
  TW_DEVICE ScaleSteps(const typename Base::Params& params, unsigned thread)
      : Base(params, thread), lane_(thread % lanes) {}

  // The k-tiles of a tile come one after the other, from its first one on.
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    if (k == tile.k_begin) begin(tile);
    const auto tensors = Base::tensors_of(stage);
    TW_UNROLL
    for (unsigned i = 0; i < lane_rows; ++i) {
      a_[i].copy(tensors.a_scales.address(i * lanes + lane_));
      a_[i].step(params_.a);
    }
    if (lane_ < columns) {
      b_.copy(tensors.b_scales.address(lane_));
      b_.step(params_.b);
    }
  }

 private:
  struct Place {
    const float* from = nullptr;
    bool is_there = false;  // else the tensor has no such row, and the scale is zero

    TW_DEVICE void begin(const OperandView& view, int row, int k, int batch) {
      is_there = row < view.rows;
      from = static_cast<const float*>(view.data);
      if (is_there) from += batch * view.batch_stride + k * view.k_stride + row * view.row_stride;
    }
    TW_DEVICE void copy(SharedAddress to) const { isa::cp_async<4>(to, from, is_there ? 4 : 0); }
    TW_DEVICE void step(const OperandView& view) {
      if (is_there) from += view.k_stride;
    }
  };
  template <class WorkTile>
  TW_DEVICE void begin(const WorkTile& tile) {
    const int row = tile.first_row(tiling.m) + static_cast<int>(lane_);
    TW_UNROLL
    for (unsigned i = 0; i < lane_rows; ++i) {
      a_[i].begin(params_.a, row + static_cast<int>(i * lanes), tile.k_begin, tile.batch);
    }
    const int column = tile.first_column(tiling.n) + static_cast<int>(lane_ * Base::b_columns);
    b_.begin(params_.b, column / int{b_rows}, tile.k_begin, tile.batch);
  }

  unsigned lane_;
  Place a_[lane_rows];
  Place b_;
};

}  // namespace tw
