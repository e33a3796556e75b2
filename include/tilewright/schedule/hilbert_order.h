// The order of tiles along a Hilbert curve: it stays near where it was at every scale.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

// A Hilbert curve over any rectangle: every run of tiles is about as tall as it is wide. The
// rectangle is cut in two along its long side, or in three around a square corner, until a line is
// left.
struct HilbertOrder {
  using Params = BandedOrder::Params;  // it reads none of them
  template <bool foreseen = isa::foresees_divisions>
  static TW_DEVICE TileAt at(const Params&, int index, int tiles_m, int tiles_n) {
    // The curve starts at `at` and runs along `long_side`; both sides are signed vectors.
    Vector at = {0, 0};
    Vector along = tiles_m >= tiles_n ? Vector{tiles_m, 0} : Vector{0, tiles_n};
    Vector across = tiles_m >= tiles_n ? Vector{0, tiles_n} : Vector{tiles_m, 0};
    for (;;) {
      const int length = along.size(), width = across.size();
      if (width == 1) return end(at, along.unit(), index);
      if (length == 1) return end(at, across.unit(), index);
      Vector half_along = along.half(), half_across = across.half();
      if (2 * length > 3 * width) {
        // Even halves keep the curve connected.
        if (half_along.size() % 2 != 0 && length > 2) half_along = half_along + along.unit();
        const int first = half_along.size() * width;
        if (index < first) {
          along = half_along;
        } else {
          index -= first;
          at = at + half_along;
          along = along - half_along;
        }
        continue;
      }
      if (half_across.size() % 2 != 0 && width > 2) half_across = half_across + across.unit();
      const int first = half_across.size() * half_along.size();
      const int second = length * (width - half_across.size());
      if (index < first) {
        along = half_across;
        across = half_along;
      } else if (index < first + second) {
        index -= first;
        at = at + half_across;
        across = across - half_across;
      } else {
        index -= first + second;
        at = at + (along - along.unit()) + (half_across - across.unit());
        const Vector rest = along - half_along;
        along = {-half_across.m, -half_across.n};
        across = {-rest.m, -rest.n};
      }
    }
  }

 private:
  struct Vector {
    int m;
    int n;
    TW_DEVICE int size() const { return (m < 0 ? -m : m) + (n < 0 ? -n : n); }
    TW_DEVICE Vector unit() const { return {(m > 0) - (m < 0), (n > 0) - (n < 0)}; }
    // Rounded towards minus infinity, so that opposite sides are cut alike.
    TW_DEVICE Vector half() const { return {m >> 1, n >> 1}; }
    TW_DEVICE Vector operator+(Vector other) const { return {m + other.m, n + other.n}; }
    TW_DEVICE Vector operator-(Vector other) const { return {m - other.m, n - other.n}; }
  };
  static TW_DEVICE TileAt end(Vector at, Vector step, int count) {
    return {at.m + step.m * count, at.n + step.n * count};
  }
};

}  // namespace tw
