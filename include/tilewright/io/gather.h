// TileIO: rows of A by an index that lies on the device (token routing), copied by threads.
#pragma once

#include "tilewright/io/thread_loader.h"

namespace tw {

// Row i is row index[i] of A, or zero where A has no such row. Rows that are not the tile's to
// store are not read, and neither are their indices.
template <Tiling tiling, unsigned warps, Completion how>
class GatherLoader : public ThreadLoader<tiling, AsyncCopy, warps, how> {
  using Base = ThreadLoader<tiling, AsyncCopy, warps, how>;

 public:
  struct Params : Base::Params {
    const std::int32_t* index;
  };
  TW_DEVICE GatherLoader(const Params& params, unsigned thread) : Base(params, thread) {}

  template <class Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    const std::int32_t* const index = static_cast<const Params&>(this->params_).index;
    this->load_rows(stage, tile, k, [&](int row) {
      return row < tile.m_end ? load_element<Space::Global>(index + row) : -1;
    });
  }
};

}  // namespace tw
