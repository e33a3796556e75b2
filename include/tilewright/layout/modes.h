// The tree of a layout: its modes (the children of the root), and ways to regroup them.
#pragma once

#include "tilewright/layout/layout.h"

namespace tw {

constexpr int rank(const Layout& layout) {
  int modes = 1;
  for (int i = 1; i < layout.leaves; ++i) modes += layout.comma_before(i) == 0;
  return modes;
}

// 0 for a single leaf, 1 for a flat tuple.
constexpr int depth(const Layout& layout) {
  int deepest = -1;
  for (int i = 1; i < layout.leaves; ++i) {
    if (layout.comma_before(i) > deepest) deepest = layout.comma_before(i);
  }
  return deepest + 1;
}

// The leaves [first, last) of one mode.
struct LeafRange {
  int first;
  int last;
};

constexpr LeafRange leaves_of_mode(const Layout& layout, int index) {
  int first = 0;
  for (int mode = 0; mode < index; ++mode) {
    ++first;
    while (first < layout.leaves && layout.comma_before(first) != 0) ++first;
  }
  require(index >= 0 && first < layout.leaves, "layout: there is no such mode");
  int last = first + 1;
  while (last < layout.leaves && layout.comma_before(last) != 0) ++last;
  return LeafRange{first, last};
}

// Appends leaves [first, last) of `source` to `target`, with `comma_depth` before the first of them
// and the commas between them `deeper` levels deeper than they were.
constexpr void push_leaves(Layout& target, const Layout& source, LeafRange range, int comma_depth,
                           int deeper) {
  for (int i = range.first; i < range.last; ++i) {
    target.push(source.leaf(i), i == range.first ? comma_depth : source.comma_before(i) + deeper);
  }
}

// A mode as a layout of its own, with the swizzle of the whole.
constexpr Layout mode(const Layout& layout, int index) {
  Layout result{};
  push_leaves(result, layout, leaves_of_mode(layout, index), 0, -1);
  result.swizzle = layout.swizzle;
  return result;
}

// Parentheses around a single mode say nothing inside a tuple, so they are dropped.
constexpr void push_mode(Layout& target, const Layout& child) {
  int outermost = 16;
  for (int i = 1; i < child.leaves; ++i) {
    if (child.comma_before(i) < outermost) outermost = child.comma_before(i);
  }
  push_leaves(target, child, LeafRange{0, child.leaves}, 0, 1 - outermost);
  if (child.swizzle.is_identity()) return;
  bool agrees = target.swizzle.is_identity() || target.swizzle == child.swizzle;
  require(agrees, "layout: its modes have different swizzles");
  target.swizzle = child.swizzle;
}

// from_modes(2:1, (3,4):(2,6)) is (2,(3,4)):(1,(2,6)).
template <class... Layouts>
constexpr Layout from_modes(const Layouts&... modes) {
  Layout result{};
  (push_mode(result, modes), ...);
  return result;
}

// The modes of `layout`, then one more.
constexpr Layout append(Layout layout, const Layout& last) {
  push_mode(layout, last);
  return layout;
}

// The modes of `left`, then the modes of `right`.
constexpr Layout concatenate(Layout left, const Layout& right) {
  for (int i = 0; i < rank(right); ++i) push_mode(left, mode(right, i));
  return left;
}

constexpr Layout take(const Layout& layout, int begin, int end) {
  require(0 <= begin && begin < end && end <= rank(layout), "take: there are no such modes");
  Layout result{};
  for (int i = begin; i < end; ++i) push_mode(result, mode(layout, i));
  return result;
}

template <class... Indices>
constexpr Layout select(const Layout& layout, Indices... indices) {
  return from_modes(mode(layout, indices)...);
}

// Modes [begin, end) become one: group((2,3,4):..., 0, 2) is ((2,3),4):...
constexpr Layout group(const Layout& layout, int begin, int end) {
  Layout result{};
  if (begin > 0) result = take(layout, 0, begin);
  push_mode(result, take(layout, begin, end));
  for (int i = end; i < rank(layout); ++i) push_mode(result, mode(layout, i));
  return result;
}

constexpr Layout flatten(Layout layout) {
  layout.comma = 0;
  return layout;
}

}  // namespace tw
