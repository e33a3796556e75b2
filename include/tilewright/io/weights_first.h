// TileIO: A and B by TMA, where one of them, the weights, may be read before the grids before have
// ended.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/tma_loader.h"

namespace tw {

template <Tiling tiling>
class WeightsFirst : public TmaLoader<tiling> {
  using Base = TmaLoader<tiling>;

 public:
  struct Params : Base::Params {
    unsigned weights_are_constant = 0;  // no grid that may still run writes them
  };
  static constexpr bool loads_weights_first = true;
  TW_DEVICE WeightsFirst(const Params& params, unsigned thread)
      : Base(params, thread), begins_(params.weights_are_constant != 0) {}

  // Whether the weights of the first stages are loaded before everything else.
  TW_DEVICE bool begins_with_weights() const { return begins_; }
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load_weights(const Stage& stage, const WorkTile& tile, int k) {
    load_part<true>(stage, tile, k);
  }
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load_rest(const Stage& stage, const WorkTile& tile, int k) {
    load_part<false>(stage, tile, k);
  }

 private:
  template <bool weights, StageToFill Stage, class WorkTile>
  TW_DEVICE void load_part(const Stage& stage, const WorkTile& tile, int k) {
    const int first_k = k * static_cast<int>(tiling.k());
    if constexpr (weights == (tiling.swap_ab != 0))
      this->load_a(stage, tile, first_k, tile.batch);
    else
      this->load_b(stage, tile, first_k, tile.batch);
  }

  bool begins_;
};

}  // namespace tw
