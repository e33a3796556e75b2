// The same memory seen through larger or smaller elements. Strides with an axis stay as they are:
// they count in pitches, whose unit belongs to who holds them.
#pragma once

#include "tilewright/layout/composition.h"

namespace tw {

// Elements `factor` times as large.
constexpr Layout upcast(const Layout& layout, std::int64_t factor) {
  require(factor >= 1, "upcast: the factor must be positive");
  Layout result{};
  for (int i = 0; i < layout.leaves; ++i) {
    Leaf leaf = layout.leaf(i);
    std::int64_t stride = absolute(leaf.stride);
    if (stride != 0 && leaf.axis == 0) {
      bool nests = stride % factor == 0 || factor % stride == 0;
      require(nests, "upcast: a stride is neither a multiple nor a divisor of the factor");
      std::int64_t merged = stride >= factor ? 1 : factor / stride;
      require(merged == 1 || leaf.extent != dyn, "upcast: a dynamic extent would be divided");
      bool is_whole = leaf.extent % merged == 0 || merged % leaf.extent == 0;
      require(is_whole, "upcast: an extent does not divide into whole elements");
      leaf.extent = leaf.extent == dyn ? dyn : ceil_divide(leaf.extent, merged);
      leaf.stride = (leaf.stride < 0 ? -1 : 1) * ceil_divide(stride, factor);
    }
    result.push(leaf, layout.comma_before(i));
  }
  if (!layout.swizzle.is_identity()) {
    int places = detail::floor_log2(factor);
    bool stays_whole = detail::is_power_of_two(factor) && layout.swizzle.base >= places;
    require(stays_whole, "upcast: the swizzle moves parts of the larger elements apart");
    result.swizzle = layout.swizzle;
    result.swizzle.base -= places;
  }
  return result;
}

// Elements one `factor`th as large; those of one old element lie side by side, so that the leaf of
// stride 1 grows.
constexpr Layout downcast(const Layout& layout, std::int64_t factor) {
  require(factor >= 1, "downcast: the factor must be positive");
  if (factor == 1) return layout;
  int unit = -1;
  for (int i = 0; i < layout.leaves; ++i) {
    bool is_unit = layout.axis(i) == 0 && absolute(layout.strides[i]) == 1;
    if (!is_unit) continue;
    bool is_better = unit < 0 || layout.extents[unit] == 1;
    require(is_better || layout.extents[i] == 1, "downcast: two leaves have stride 1");
    if (is_better) unit = i;
  }
  require(unit >= 0, "downcast: no leaf has stride 1");
  require(layout.extents[unit] != dyn, "downcast: a dynamic extent would be multiplied");
  Layout result = layout;
  for (int i = 0; i < layout.leaves; ++i) {
    if (i == unit) {
      result.extents.set(i, checked_product(layout.extents[i], factor));
    } else if (layout.axis(i) == 0) {
      result.strides.set(i, checked_product(layout.strides[i], factor));
    }
  }
  if (!layout.swizzle.is_identity()) {
    require(detail::is_power_of_two(factor), "downcast: the swizzle needs a power of two");
    result.swizzle.base += detail::floor_log2(factor);
  }
  return result;
}

// From elements of `old_bits` to elements of `new_bits`.
constexpr Layout recast(const Layout& layout, std::int64_t old_bits, std::int64_t new_bits) {
  require(old_bits >= 1 && new_bits >= 1, "recast: an element has at least one bit");
  std::int64_t common = greatest_common_divisor(old_bits, new_bits);
  return upcast(downcast(layout, old_bits / common), new_bits / common);
}

}  // namespace tw
