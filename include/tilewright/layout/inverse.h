// Inverses: from an offset back to an index.
#pragma once

#include "tilewright/layout/complement.h"
#include "tilewright/layout/composition.h"

namespace tw {

namespace detail {

// The same extents, with the step that each leaf takes in the index of the whole layout.
constexpr Layout index_steps(Layout layout) {
  std::int64_t step = 1;
  for (int i = 0; i < layout.leaves; ++i) {
    require(layout.extents[i] != dyn, "inverse: an extent is known only at run time");
    layout.strides.set(i, layout.extents[i] == 1 ? 0 : step);
    step = checked_product(step, layout.extents[i]);
  }
  return layout;
}

// inverse(swizzle(x)), with the swizzle carried outside. Swizzled bits that no offset of the
// inverse has do nothing.
constexpr Layout after_swizzle(const Layout& inverse, Swizzle swizzle) {
  if (swizzle.is_identity() || size(inverse) <= std::int64_t{1} << swizzle.source_bit()) {
    return inverse;
  }
  bool stays_inside = size(inverse) % block_size(swizzle) == 0;
  require(stays_inside, "inverse: the swizzle leads out of what the layout reaches");
  return composition(inverse, with_swizzle(single(size(inverse), 1), swizzle));
}

}  // namespace detail

// layout(right_inverse(layout)(i)) = i, for as many i as lie together from offset 0 on.
constexpr Layout right_inverse(const Layout& layout) {
  require(layout.axes == 0, "right_inverse: a stride counts in units known only at run time");
  Layout flat = coalesce(without_swizzle(layout));
  Layout steps = detail::index_steps(flat);
  Layout result{};
  std::int64_t reached = 1;
  for (int i = 0; i < flat.leaves;) {
    if (flat.strides[i] == reached && flat.extents[i] != 1) {
      result.push(steps.leaf(i), 0);
      reached = checked_product(reached, flat.extents[i]);
      i = 0;
    } else {
      ++i;
    }
  }
  if (result.leaves == 0) return single(1, 0);
  return detail::after_swizzle(result, layout.swizzle);
}

// layout(left_inverse(layout)(layout(i))) = layout(i).
constexpr Layout left_inverse(const Layout& layout) {
  require(layout.axes == 0, "left_inverse: a stride counts in units known only at run time");
  Layout flat = coalesce(without_swizzle(layout));
  Layout steps = detail::index_steps(flat);
  Slots order = detail::order_by_stride(flat);
  Layout result{};
  // Each leaf of the result reads one digit of the offset; a digit ends where the next one begins.
  Leaf digit{1, 0, 0};
  std::int64_t begin = 1;
  std::int64_t reached = 1;
  for (int i = 0; i < flat.leaves; ++i) {
    int leaf = static_cast<int>(order[i]);
    std::int64_t stride = flat.strides[leaf];
    require(stride >= 0, "left_inverse: a stride is negative");
    if (stride == 0) continue;
    require(stride >= reached, "left_inverse: the layout reaches an element twice");
    require(stride % begin == 0, "left_inverse: a stride is no multiple of the next smaller one");
    digit.extent = stride / begin;
    if (digit.extent != 1) result.push(digit, 0);
    digit = steps.leaf(leaf);
    begin = stride;
    reached = checked_product(stride, flat.extents[leaf]);
  }
  if (digit.extent != 1 || result.leaves == 0) result.push(digit, 0);
  return detail::after_swizzle(coalesce(result), layout.swizzle);
}

// The indices that the layout sends to offset 0, because their stride is 0.
constexpr Layout nullspace(const Layout& layout) {
  Layout steps = detail::index_steps(layout);
  Layout result{};
  for (int i = 0; i < layout.leaves; ++i) {
    if (layout.strides[i] == 0 && layout.extents[i] != 1) result.push(steps.leaf(i), 0);
  }
  return result.leaves == 0 ? single(1, 0) : result;
}

}  // namespace tw
