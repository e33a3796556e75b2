// TileIO: rows of A by an index that lies on the device (token routing), copied by threads.
#pragma once

#include "tilewright/io/async_copy.h"
#include "tilewright/io/thread_loader.h"

namespace tw {

// A loader whose row i is row index[i] of A, or zero where A has no such row. Rows that are not the
// tile's to store are not read, and neither are their indices. Where there may be no index, rows
// are then as they lie.
template <class Loader, bool always = true>
struct Gathered : Loader {
  struct Params : Loader::Params {
    const std::int32_t* index = nullptr;
  };
  TW_DEVICE Gathered(const Params& params, unsigned thread) : Loader(params, thread) {}

  template <StageToFill Stage, class WorkTile>
  TW_DEVICE void load(const Stage& stage, const WorkTile& tile, int k) {
    const std::int32_t* const index = static_cast<const Params&>(this->params_).index;
    this->load_rows(stage, tile, k, [&](int row) {
      if constexpr (!always) {
        if (index == nullptr) return row < tile.m_end ? row : -1;
      }
      return row < tile.m_end ? load_element<Space::Global>(index + row) : -1;
    });
  }
};

// Whether a loader gathers rows, and whether it takes none as they lie.
template <class Loader>
constexpr bool gathers_rows = false;
template <class Loader, bool always>
constexpr bool gathers_rows<Gathered<Loader, always>> = true;
template <class Loader>
constexpr bool needs_row_index = false;
template <class Loader, bool always>
constexpr bool needs_row_index<Gathered<Loader, always>> = always;

template <Tiling tiling, unsigned warps, Completion how>
using GatherLoader = Gathered<ThreadLoader<tiling, AsyncCopy, warps, how>>;

// Element by element, with an index or without one: operands of any layout and alignment.
template <Tiling tiling, unsigned warps, Completion how>
using AnyRowsLoader = Gathered<ThreadLoader<tiling, PlainCopy, warps, how>, false>;

}  // namespace tw
