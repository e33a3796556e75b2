// Fewer leaves, same function: adjacent leaves that continue each other become one.
#pragma once

#include "tilewright/layout/offset.h"

namespace tw {

namespace detail {

// The leaf `next` goes on where `previous` ends, so that both are one leaf with the first one's
// stride. A dynamic extent never merges: the tensor that holds it knows it by its own leaf.
constexpr bool continues(const Leaf& previous, const Leaf& next) {
  return previous.extent != dyn && next.extent != dyn && previous.axis == next.axis &&
         checked_product(previous.extent, previous.stride) == next.stride;
}

// With `keep_last`, the last leaf survives although its extent is 1: beyond its size a layout runs
// on in its last leaf, and composition may ask for that.
constexpr Layout coalesce_leaves(const Layout& layout, LeafRange range, bool keep_last) {
  Layout result{};
  Leaf current{1, 0, 0};
  for (int i = range.first; i < range.last; ++i) {
    Leaf leaf = layout.leaf(i);
    bool is_kept_last = keep_last && i + 1 == range.last;
    if (leaf.extent == 1 && !is_kept_last) continue;
    if (current.extent == 1) {
      current = leaf;
    } else if (continues(current, leaf)) {
      current.extent *= leaf.extent;
    } else {
      result.push(current, 0);
      current = leaf;
    }
  }
  result.push(current, 0);
  return result;
}

}  // namespace detail

// At most one level deep, same offset for every index.
constexpr Layout coalesce(const Layout& layout) {
  Layout result = detail::coalesce_leaves(layout, LeafRange{0, layout.leaves}, false);
  result.swizzle = layout.swizzle;
  return result;
}

// Coalesces inside each mode, so that the rank and the size of each mode stay.
constexpr Layout coalesce_modes(const Layout& layout) {
  Layout result{};
  for (int i = 0; i < rank(layout); ++i) {
    push_mode(result, detail::coalesce_leaves(layout, leaves_of_mode(layout, i), false));
  }
  result.swizzle = layout.swizzle;
  return result;
}

// Leaves of stride 0 repeat the same elements; their extent becomes 1.
constexpr Layout filter_zeros(Layout layout) {
  for (int i = 0; i < layout.leaves; ++i) {
    if (layout.strides[i] == 0) layout.extents.set(i, 1);
  }
  return layout;
}

// Only what reaches different elements.
constexpr Layout filter(const Layout& layout) { return coalesce(filter_zeros(layout)); }

}  // namespace tw
