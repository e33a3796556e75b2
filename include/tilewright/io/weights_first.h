// TileIO: A and B by TMA, where one of them, the weights, may be read before the grids before have
// ended.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/tma_loader.h"

namespace tw {

template <Tiling tiling>
class WeightsFirst : public TmaLoader<tiling> {
  using Base = TmaLoader<tiling>;
  static constexpr bool swaps = tiling.swap_ab != 0;  // then weights are A

 public:
  using typename Base::Params;
  static constexpr bool loads_weights_first = true;
  // Weights that nobody shares may come before the cluster has met.
  static constexpr bool loads_own_first = tiling.cluster.size() > 1 &&
                                          (swaps ? Base::a_is_own : Base::b_is_own);
  using Base::Base;

  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load_weights(const Stage& stage, const WorkTile& tile, int k) {
    this->template load_parts<swaps, !swaps>(stage, tile, k);
  }
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load_own(const Stage& stage, const WorkTile& tile, int k) {
    load_weights(stage, tile, k);
  }
  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load_rest(const Stage& stage, const WorkTile& tile, int k) {
    this->template load_parts<!swaps, swaps>(stage, tile, k);
  }
};

}  // namespace tw
