// What two layouts have in common, and how a domain is shared out.
#pragma once

#include <initializer_list>

#include "tilewright/layout/inverse.h"

namespace tw {

// How many elements from the beginning lie next to each other in both layouts, in the same order:
// the longest vector that a copy from one to the other can move at once.
constexpr std::int64_t max_common_vector(const Layout& left, const Layout& right) {
  Layout inverse = right_inverse(without_swizzle(right));
  detail::Composer composer = detail::composer(left);
  std::int64_t common = 1;
  bool is_common = left.axes == 0;
  for (int i = 0; i < inverse.leaves && is_common; ++i) {
    Layout pieces{};
    is_common = composer.compose(pieces, inverse.leaf(i), 0, 0) == detail::Fit::exists;
    for (int j = 0; j < pieces.leaves && is_common; ++j) {
      is_common = pieces.strides[j] == common && pieces.axis(j) == 0;
      if (is_common) common *= pieces.extents[j];
    }
  }
  // A swizzle keeps only aligned runs of 2^base elements together.
  for (Swizzle swizzle : {left.swizzle, right.swizzle}) {
    std::int64_t together = std::int64_t{1} << swizzle.base;
    if (!swizzle.is_identity() && common > together) common = together;
  }
  return common;
}

// The indices of those elements, in their common order.
constexpr Layout max_common_layout(const Layout& left, const Layout& right) {
  std::int64_t common = max_common_vector(left, right);
  if (common == 1) return single(1, 0);
  return composition(right_inverse(without_swizzle(right)), single(common, 1));
}

// Shares a domain out among `parts`: as many indices as possible from each leaf in turn, never
// across a leaf. The result maps a part to its first index.
constexpr Layout domain_distribute(const Layout& domain, std::int64_t parts) {
  require(parts >= 1, "domain_distribute: the number of parts must be positive");
  Layout result{};
  std::int64_t step = 1;
  for (int i = 0; i < domain.leaves; ++i) {
    std::int64_t extent = domain.extents[i];
    require(extent != dyn, "domain_distribute: an extent is known only at run time");
    std::int64_t share = greatest_common_divisor(extent, parts);
    if (share != 1) result.push(Leaf{share, step, 0}, 0);
    parts /= share;
    step = checked_product(step, extent);
  }
  require(parts == 1, "domain_distribute: the domain cannot be shared out evenly");
  return result.leaves == 0 ? single(1, 0) : result;
}

}  // namespace tw
