// What a layout computes: the offset of a coordinate, and how large its domain and its image are.
#pragma once

#include "tilewright/layout/modes.h"

namespace tw {

constexpr std::int64_t size(const Layout& layout) {
  std::int64_t product = 1;
  for (int i = 0; i < layout.leaves; ++i) {
    require(layout.extents[i] != dyn, "size: an extent is known only at run time");
    product = checked_product(product, layout.extents[i]);
  }
  return product;
}

constexpr bool is_static(const Layout& layout) {
  for (int i = 0; i < layout.leaves; ++i) {
    if (layout.extents[i] == dyn) return false;
  }
  return layout.axes == 0;
}

// The sum, over the leaves in `range` whose stride counts on `axis`, of coordinate times stride. As
// everywhere, `index` counts the range with its first leaf fastest and runs on in its last leaf.
constexpr std::int64_t offset_on_axis(const Layout& layout, LeafRange range, int axis,
                                      std::int64_t index) {
  std::int64_t sum = 0;
  for (int i = range.first; i < range.last; ++i) {
    std::int64_t coordinate = index;
    if (i + 1 < range.last) {
      std::int64_t extent = layout.extents[i];
      require(extent != dyn, "offset: a dynamic extent must be the last leaf of its mode");
      coordinate = index % extent;
      index /= extent;
    }
    if (layout.axis(i) == axis) sum += checked_product(coordinate, layout.strides[i]);
  }
  return sum;
}

// offset(layout, index) counts the whole layout, offset(layout, i, j, ...) takes one index per
// mode.
template <class... Indices>
constexpr std::int64_t offset(const Layout& layout, Indices... indices) {
  require(layout.axes == 0, "offset: a stride counts in units known only at run time");
  if constexpr (sizeof...(Indices) == 1) {
    LeafRange whole{0, layout.leaves};
    return layout.swizzle((offset_on_axis(layout, whole, 0, indices) + ...));
  } else {
    bool matches = sizeof...(Indices) == static_cast<unsigned>(rank(layout));
    require(matches, "offset: give one index for the whole layout or one for each mode");
    int index = 0;
    std::int64_t sum = 0;
    ((sum += offset_on_axis(layout, leaves_of_mode(layout, index++), 0, indices)), ...);
    return layout.swizzle(sum);
  }
}

// A position in a layout, leaf by leaf, in the same tree.
struct Coordinate {
  Slots values;
  std::uint64_t comma;
  std::int64_t leaves;

  friend constexpr bool operator==(const Coordinate&, const Coordinate&) = default;
};

constexpr Coordinate coordinate_at(const Layout& layout, std::int64_t index) {
  Coordinate result{};
  for (int i = 0; i < layout.leaves; ++i) {
    std::int64_t value = index;
    if (i + 1 < layout.leaves) {
      require(layout.extents[i] != dyn, "coordinate_at: an extent is known only at run time");
      value = index % layout.extents[i];
      index /= layout.extents[i];
    }
    result.values.set(i, value);
  }
  result.comma = layout.comma;
  result.leaves = layout.leaves;
  return result;
}

constexpr std::int64_t offset(const Layout& layout, const Coordinate& coordinate) {
  require(layout.axes == 0, "offset: a stride counts in units known only at run time");
  bool matches = layout.comma == coordinate.comma && layout.leaves == coordinate.leaves;
  require(matches, "offset: the coordinate and the layout are nested differently");
  std::int64_t sum = 0;
  for (int i = 0; i < layout.leaves; ++i) {
    sum += checked_product(coordinate.values[i], layout.strides[i]);
  }
  return layout.swizzle(sum);
}

// How many elements of storage the layout needs. A swizzle may use all of its last block.
constexpr std::int64_t cosize(const Layout& layout) {
  require(layout.axes == 0, "cosize: a stride counts in units known only at run time");
  std::int64_t last = 0;
  for (int i = 0; i < layout.leaves; ++i) {
    require(layout.extents[i] != dyn, "cosize: an extent is known only at run time");
    last += checked_product(layout.extents[i] - 1, absolute(layout.strides[i]));
  }
  std::int64_t block = block_size(layout.swizzle);
  return ceil_divide(last + 1, block) * block;
}

// Every coordinate of `coarse` is also one of `fine`: each leaf of `coarse` is a subtree of `fine`
// of the same size.
constexpr bool is_compatible(const Layout& coarse, const Layout& fine) {
  int position = 0;
  for (int i = 0; i < coarse.leaves; ++i) {
    int before = i == 0 ? 0 : coarse.comma_before(i);
    int after = i + 1 < coarse.leaves ? coarse.comma_before(i + 1) : 0;
    int depth_here = coarse.leaves == 1 ? 0 : 1 + (before > after ? before : after);
    if (position >= fine.leaves || (i > 0 && fine.comma_before(position) != before)) return false;
    std::int64_t product = fine.extents[position++];
    while (position < fine.leaves && fine.comma_before(position) >= depth_here) {
      product *= fine.extents[position++];
    }
    if (product != coarse.extents[i]) return false;
  }
  return position == fine.leaves;
}

}  // namespace tw
