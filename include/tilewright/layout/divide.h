// Dividing a layout by a tile: the first part walks inside one tile, the rest from tile to tile.
#pragma once

#include "tilewright/layout/complement.h"
#include "tilewright/layout/composition.h"

namespace tw {

namespace detail {

constexpr std::int64_t size_or_dynamic(const Layout& layout) {
  for (int i = 0; i < layout.leaves; ++i) {
    if (layout.extents[i] == dyn) return dyn;
  }
  return size(layout);
}

// ((t0,r0),(t1,r1),m2) becomes ((t0,t1),(r0,r1,m2)), where the first `pairs` modes are pairs.
constexpr Layout unzip(const Layout& layout, int pairs) {
  Layout tiles{};
  Layout rests{};
  for (int i = 0; i < rank(layout); ++i) {
    Layout child = mode(layout, i);
    if (i < pairs) {
      push_mode(tiles, mode(child, 0));
      push_mode(rests, mode(child, 1));
    } else {
      push_mode(rests, child);
    }
  }
  return from_modes(tiles, rests);
}

}  // namespace detail

// (tile, rest): how a tile lies in the layout, and where the tiles begin.
constexpr Layout logical_divide(const Layout& layout, const Layout& tile) {
  require(tile.swizzle.is_identity(), "logical_divide: the tile has a swizzle");
  Layout rest = complement(tile, detail::size_or_dynamic(layout));
  return composition(layout, from_modes(tile, rest));
}

// ((tile 0, rest 0), (tile 1, rest 1), ..., further modes as they are)
constexpr Layout logical_divide(const Layout& layout, const Tiler& tiler) {
  require(tiler.rank <= rank(layout), "logical_divide: the tiler has more modes than the layout");
  Layout result{};
  for (int i = 0; i < rank(layout); ++i) {
    Layout child = mode(layout, i);
    push_mode(result, i < tiler.rank ? logical_divide(child, tiler[i]) : child);
  }
  return result;
}

// ((tile 0, tile 1, ...), (rest 0, rest 1, ..., further modes))
constexpr Layout zipped_divide(const Layout& layout, const Layout& tile) {
  return logical_divide(layout, tile);
}
constexpr Layout zipped_divide(const Layout& layout, const Tiler& tiler) {
  return detail::unzip(logical_divide(layout, tiler), static_cast<int>(tiler.rank));
}

// ((tile 0, tile 1, ...), rest 0, rest 1, ...)
template <class Tile>
constexpr Layout tiled_divide(const Layout& layout, const Tile& tile) {
  Layout zipped = zipped_divide(layout, tile);
  return concatenate(take(zipped, 0, 1), mode(zipped, 1));
}

// (tile 0, tile 1, ..., rest 0, rest 1, ...)
template <class Tile>
constexpr Layout flat_divide(const Layout& layout, const Tile& tile) {
  Layout zipped = zipped_divide(layout, tile);
  return concatenate(mode(zipped, 0), mode(zipped, 1));
}

}  // namespace tw
