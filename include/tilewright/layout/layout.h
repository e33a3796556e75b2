// A layout maps coordinates to offsets: a tree of extents and a tree of strides of the same shape,
// written ((2,2),3):((24,2),8), with at most one swizzle applied to the final offset.
//
// It is a structural value, so that it can be a template argument and so that equal layouts are the
// same type however they were computed: unused slots are zero, and the tree is held as the depth of
// the comma before each leaf. Members are scalars because nvcc's host stub can spell neither arrays
// nor constructors.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "tilewright/base/require.h"
#include "tilewright/layout/swizzle.h"

namespace tw {

inline constexpr int max_leaves = 12;

// An extent that is known only at run time, written _.
inline constexpr std::int64_t dyn = -1;

// One extent with its stride. A stride with a positive axis, written coefficient@axis, counts in
// units of that axis: a run-time pitch, or one component of a coordinate.
struct Leaf {
  std::int64_t extent;
  std::int64_t stride;
  std::int64_t axis;

  friend constexpr bool operator==(const Leaf&, const Leaf&) = default;
};

struct Slots {
  std::int64_t v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11;

  constexpr std::int64_t operator[](int slot) const {
    switch (slot) {
      case 0: return v0;
      case 1: return v1;
      case 2: return v2;
      case 3: return v3;
      case 4: return v4;
      case 5: return v5;
      case 6: return v6;
      case 7: return v7;
      case 8: return v8;
      case 9: return v9;
      case 10: return v10;
      default: return v11;
    }
  }

  constexpr void set(int slot, std::int64_t value) {
    switch (slot) {
      case 0: v0 = value; break;
      case 1: v1 = value; break;
      case 2: v2 = value; break;
      case 3: v3 = value; break;
      case 4: v4 = value; break;
      case 5: v5 = value; break;
      case 6: v6 = value; break;
      case 7: v7 = value; break;
      case 8: v8 = value; break;
      case 9: v9 = value; break;
      case 10: v10 = value; break;
      default: v11 = value; break;
    }
  }

  friend constexpr bool operator==(const Slots&, const Slots&) = default;
};

struct Layout {
  Slots extents;
  Slots strides;
  std::uint64_t axes;   // hex digit i: the axis of stride i, 0 for a plain number
  std::uint64_t comma;  // hex digit i: the depth of the comma before leaf i; 0 separates modes
  std::int32_t leaves;
  Swizzle swizzle;

  constexpr int axis(int leaf) const { return static_cast<int>(axes >> (4 * leaf) & 15); }

  // Without a comma before it, the first leaf answers 0.
  constexpr int comma_before(int leaf) const { return static_cast<int>(comma >> (4 * leaf) & 15); }

  constexpr Leaf leaf(int index) const { return Leaf{extents[index], strides[index], axis(index)}; }

  constexpr void push(Leaf leaf, int comma_depth) {
    require(leaves < max_leaves, "layout: it would need more than 12 leaves");
    require(leaf.extent >= 1 || leaf.extent == dyn, "layout: an extent must be positive");
    require(comma_depth < 16, "layout: it is nested more than 15 deep");
    require(leaf.axis >= 0 && leaf.axis < 16, "layout: an axis must lie between 0 and 15");
    extents.set(leaves, leaf.extent);
    strides.set(leaves, leaf.stride);
    axes |= static_cast<std::uint64_t>(leaf.axis) << (4 * leaves);
    if (leaves > 0) comma |= static_cast<std::uint64_t>(comma_depth) << (4 * leaves);
    ++leaves;
  }

  friend constexpr bool operator==(const Layout&, const Layout&) = default;
};

// clang mis-indexes template arguments that have padding.
static_assert(std::has_unique_object_representations_v<Layout>);
static_assert(std::is_aggregate_v<Layout> && std::is_trivially_default_constructible_v<Layout>);

constexpr std::int64_t absolute(std::int64_t value) { return value < 0 ? -value : value; }

constexpr std::int64_t ceil_divide(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

constexpr std::int64_t greatest_common_divisor(std::int64_t left, std::int64_t right) {
  return right == 0 ? left : greatest_common_divisor(right, left % right);
}

// Refuses instead of overflowing: sizes come from users too.
constexpr std::int64_t checked_product(std::int64_t left, std::int64_t right) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  bool fits = left == 0 || absolute(right) <= largest / absolute(left);
  require(fits, "layout: a size or stride would not fit in 64 bits");
  return left * right;
}

constexpr Layout single(std::int64_t extent, std::int64_t stride, std::int64_t axis = 0) {
  Layout result{};
  result.push(Leaf{extent, stride, axis}, 0);
  return result;
}

// The first mode is contiguous: column_major(4, 8) is (4,8):(1,4).
template <class... Extents>
constexpr Layout column_major(Extents... extents) {
  Layout result{};
  std::int64_t stride = 1;
  auto push = [&](std::int64_t extent) {
    result.push(Leaf{extent, stride, 0}, 0);
    stride = checked_product(stride, extent);
  };
  (push(extents), ...);
  return result;
}

// The last mode is contiguous: row_major(4, 8) is (4,8):(8,1).
template <class... Extents>
constexpr Layout row_major(Extents... extents) {
  Layout result{};
  std::int64_t stride = 1;
  ((stride = checked_product(stride, extents)), ...);
  auto push = [&](std::int64_t extent) {
    require(extent >= 1, "row_major: an extent must be positive");
    stride /= extent;
    result.push(Leaf{extent, stride, 0}, 0);
  };
  (push(extents), ...);
  return result;
}

// Maps a coordinate to itself, one axis per mode: identity(4, 8) is (4,8):(1@1,1@2). Divided by the
// same tiler as a tensor, it tells where each element of a tile lies, which is what bounds need.
template <class... Extents>
constexpr Layout identity(Extents... extents) {
  Layout result{};
  std::int64_t axis = 0;
  (result.push(Leaf{static_cast<std::int64_t>(extents), 1, ++axis}, 0), ...);
  return result;
}

constexpr Layout without_swizzle(Layout layout) {
  layout.swizzle = Swizzle{0, 0, 0};
  return layout;
}

constexpr Layout with_swizzle(Layout layout, Swizzle swizzle) {
  require(layout.swizzle.is_identity(), "layout: it already has a swizzle");
  layout.swizzle = make_swizzle(swizzle.bits, swizzle.base, swizzle.shift);
  return layout;
}

}  // namespace tw
