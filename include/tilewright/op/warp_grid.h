// How warps that multiply by themselves stand over the CTA's tile.
#pragma once

namespace tw {

struct WarpGrid {
  unsigned m = 2;
  unsigned n = 2;
  constexpr unsigned size() const { return m * n; }
};

}  // namespace tw
