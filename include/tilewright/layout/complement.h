// complement(layout, target): the elements that the layout leaves out, ordered, such that layout
// and complement together reach every multiple of the layout's pattern below `target`, each once.
#pragma once

#include "tilewright/layout/coalesce.h"

namespace tw {

namespace detail {

// The numbers of the leaves in the order of their strides, the first of equal ones first.
constexpr Slots order_by_stride(const Layout& layout) {
  Slots order{};
  for (int i = 0; i < layout.leaves; ++i) {
    int place = 0;
    for (int j = 0; j < layout.leaves; ++j) {
      place += layout.strides[j] < layout.strides[i] ||
               (j < i && layout.strides[j] == layout.strides[i]);
    }
    order.set(place, i);
  }
  return order;
}

}  // namespace detail

// `target` may be `dyn`; then so is the last extent of the complement.
constexpr Layout complement(const Layout& layout, std::int64_t target) {
  require(layout.swizzle.is_identity(), "complement: the layout has a swizzle");
  require(layout.axes == 0, "complement: a stride counts in units known only at run time");
  Layout distinct = filter(layout);
  Slots order = detail::order_by_stride(distinct);
  Layout result{};
  std::int64_t reached = 1;
  bool has_gaps = false;
  for (int i = 0; i < distinct.leaves; ++i) {
    Leaf leaf = distinct.leaf(static_cast<int>(order[i]));
    if (leaf.extent == 1) continue;
    require(leaf.extent != dyn, "complement: an extent is known only at run time");
    require(leaf.stride >= reached, "complement: the layout reaches an element twice");
    has_gaps |= leaf.stride % reached != 0;
    result.push(Leaf{leaf.stride / reached, reached, 0}, 0);
    reached = checked_product(leaf.extent, leaf.stride);
  }
  result.push(Leaf{target == dyn ? dyn : ceil_divide(target, reached), reached, 0}, 0);
  result = coalesce(result);
  bool is_complete = !has_gaps;
  if (has_gaps && target != dyn) is_complete = cosize(distinct) + cosize(result) - 1 >= target;
  require(is_complete, "complement: the layout leaves gaps that no layout fills");
  return result;
}

constexpr Layout complement(const Layout& layout) { return complement(layout, cosize(layout)); }

}  // namespace tw
