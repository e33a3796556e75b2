// A tiler holds one layout for each of the first modes of the layout that it tiles:
// tiler(128, 64) or tiler("3:3"_layout, "(2,4):(1,8)"_layout). A number n stands for n:1.
#pragma once

#include "tilewright/layout/modes.h"

namespace tw {

struct Tiler {
  Layout m0, m1, m2, m3;
  std::int64_t rank;

  constexpr const Layout& operator[](int mode) const {
    switch (mode) {
      case 0: return m0;
      case 1: return m1;
      case 2: return m2;
      default: return m3;
    }
  }

  friend constexpr bool operator==(const Tiler&, const Tiler&) = default;
};
static_assert(std::has_unique_object_representations_v<Tiler>);

constexpr Layout as_tile(std::int64_t extent) { return single(extent, 1); }
constexpr Layout as_tile(const Layout& layout) { return layout; }

template <class... Tiles>
constexpr Tiler tiler(const Tiles&... tiles) {
  static_assert(sizeof...(Tiles) >= 1 && sizeof...(Tiles) <= 4, "tiler: it has 1 to 4 modes");
  return [](const Layout& m0, const Layout& m1 = {}, const Layout& m2 = {}, const Layout& m3 = {}) {
    return Tiler{m0, m1, m2, m3, sizeof...(Tiles)};
  }(as_tile(tiles)...);
}

}  // namespace tw
