// Index arithmetic of a static layout: what a programmer would write by hand, in unsigned numbers.
// Every extent and stride is a template argument, so that a division by a power of two is a shift
// and nothing of the layout is left at run time.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "tilewright/layout/coalesce.h"

namespace tw {

// In place of an index: keep the whole mode. (CUDA has taken the name `all`.)
struct Whole {};
inline constexpr Whole whole{};

namespace detail {

// The strides on one axis, as plain numbers; all others zero.
constexpr Layout on_axis(Layout layout, int axis) {
  for (int i = 0; i < layout.leaves; ++i) {
    if (layout.axis(i) != axis) layout.strides.set(i, 0);
  }
  layout.axes = 0;
  return without_swizzle(layout);
}

// Keeps only those plain strides that are multiples of `unit`, or only the others.
constexpr Layout of_unit(Layout layout, std::int64_t unit, bool multiples) {
  for (int i = 0; i < layout.leaves; ++i) {
    if ((layout.strides[i] % unit == 0) != multiples) layout.strides.set(i, 0);
  }
  return layout;
}

constexpr int max_axis(const Layout& layout) {
  int largest = 0;
  for (int i = 0; i < layout.leaves; ++i) {
    if (layout.axis(i) > largest) largest = layout.axis(i);
  }
  return largest;
}

enum class SumKind { narrow, narrow_signed, wide };

// Sums of plain strides stay in 32 bits where they fit. That of a dynamic extent does: its stride
// is 1 in the tensor it comes from (see TileTensor), so that the sum stays below that tensor's
// extent.
constexpr SumKind sum_kind(const Layout& layout) {
  constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
  std::int64_t last = 0;
  bool has_negative = false;
  for (int i = 0; i < layout.leaves; ++i) {
    std::int64_t stride = layout.strides[i];
    has_negative |= stride < 0;
    if (layout.extents[i] != dyn) last += checked_product(layout.extents[i] - 1, absolute(stride));
  }
  if (last > largest) return SumKind::wide;
  return has_negative ? SumKind::narrow_signed : SumKind::narrow;
}

template <std::int64_t extent, std::int64_t stride, bool is_last, class Sum>
constexpr void add_digit(Sum& sum, unsigned& index) {
  unsigned digit = index;
  if constexpr (!is_last) {
    digit = index % static_cast<unsigned>(extent);
    index /= static_cast<unsigned>(extent);
  }
  if constexpr (stride != 0) sum += static_cast<Sum>(digit) * static_cast<Sum>(stride);
}

template <class Sum, Layout weights, int first, int... leaves>
constexpr Sum sum_of_leaves(unsigned index, std::integer_sequence<int, leaves...>) {
  Sum sum = 0;
  (add_digit<weights.extents[first + leaves], weights.strides[first + leaves],
             leaves + 1 == static_cast<int>(sizeof...(leaves))>(sum, index),
   ...);
  return sum;
}

template <class Sum, Layout weights, int first, int last, class Index>
constexpr Sum sum_of_range(Index index) {
  if constexpr (std::is_same_v<Index, Whole>) {
    return 0;
  } else {
    return sum_of_leaves<Sum, weights, first>(static_cast<unsigned>(index),
                                              std::make_integer_sequence<int, last - first>());
  }
}

template <class Sum, Layout weights, int... modes, class... Indices>
constexpr Sum sum_of_modes(std::integer_sequence<int, modes...>, Indices... indices) {
  return (sum_of_range<Sum, weights, leaves_of_mode(weights, modes).first,
                       leaves_of_mode(weights, modes).last>(indices) +
          ...);
}

// Coalesces inside each mode. With `runs_on`, an index may lie beyond an extent of 1: the last leaf
// of a mode stays.
constexpr Layout merged_modes(const Layout& layout, bool runs_on) {
  Layout result{};
  for (int i = 0; i < rank(layout); ++i) {
    push_mode(result, coalesce_leaves(layout, leaves_of_mode(layout, i), runs_on));
  }
  return result;
}

// The sum of index times stride: one index per mode, or one for the whole layout. Coalescing spares
// divisions.
template <class Sum, Layout weights, bool runs_on = false, class... Indices>
constexpr Sum sum_as(Indices... indices) {
  constexpr int given = sizeof...(Indices);
  static_assert(given == 1 || given == rank(weights),
                "Give one index for the whole tensor or one for each mode.");
  static_assert(((std::is_integral_v<Indices> || std::is_same_v<Indices, Whole>)&&...),
                "An index is a number or `whole`.");
  if constexpr (given == rank(weights)) {
    constexpr Layout merged = merged_modes(weights, runs_on);
    return sum_of_modes<Sum, merged>(std::make_integer_sequence<int, given>(), indices...);
  } else {
    constexpr Layout merged = coalesce(weights);
    return (sum_of_range<Sum, merged, 0, merged.leaves>(indices) + ...);
  }
}

// `weights` has plain strides and no swizzle.
template <Layout weights, class... Indices>
constexpr auto weighted_sum(Indices... indices) {
  constexpr SumKind kind = sum_kind(weights);
  if constexpr (kind == SumKind::wide) {
    return sum_as<std::int64_t, weights>(indices...);
  } else if constexpr (kind == SumKind::narrow_signed) {
    return static_cast<std::int32_t>(sum_as<std::uint32_t, weights>(indices...));
  } else {
    return sum_as<std::uint32_t, weights>(indices...);
  }
}

// Strides in units one `factor`th as large: elements become bytes.
constexpr Layout scaled(Layout layout, std::int64_t factor) {
  for (int i = 0; i < layout.leaves; ++i) {
    layout.strides.set(i, checked_product(layout.strides[i], factor));
  }
  if (!layout.swizzle.is_identity()) {
    require((factor & (factor - 1)) == 0, "swizzle: elements must have a power of two of bytes");
    for (; factor > 1; factor /= 2) ++layout.swizzle.base;
  }
  return layout;
}

// Whether every `step` indices of a mode lead equally far, wherever they begin.
constexpr bool goes_in_steps(const Layout& mode, std::int64_t step) {
  const std::int64_t stride = offset(mode, step);
  for (std::int64_t i = 0; i < size(mode); ++i) {
    if (offset(mode, i) != offset(mode, i % step) + i / step * stride) return false;
  }
  return true;
}

// Without the strides of all leaves but one, whose digit it then computes; or without that one's.
constexpr Layout digit_of(Layout layout, int leaf) {
  for (int i = 0; i < layout.leaves; ++i) layout.strides.set(i, i == leaf ? 1 : 0);
  return without_swizzle(layout);
}
constexpr Layout without_digit(Layout layout, int leaf) {
  layout.strides.set(leaf, 0);
  return without_swizzle(layout);
}

// The leaf that holds all bits that a swizzle changes, and the leaf that holds all bits it takes
// for that; -1 where digits of other leaves share these bits.
struct SwizzledLeaves {
  int target;
  int source;
};
constexpr SwizzledLeaves swizzled_leaves(const Layout& layout) {
  const Swizzle swizzle = layout.swizzle;
  const std::int64_t target = std::int64_t{1} << swizzle.target_bit();
  const std::int64_t source = std::int64_t{1} << swizzle.source_bit();
  const std::int64_t count = std::int64_t{1} << swizzle.bits;
  SwizzledLeaves result{-1, -1};
  for (int i = 0; i < layout.leaves; ++i) {
    const std::int64_t stride = layout.strides[i], extent = layout.extents[i];
    if (extent == 1) continue;
    if (stride > 0 && target % stride == 0 && stride * extent == target * count) {
      if (result.target >= 0) return {-1, -1};
      result.target = i;
    } else if (stride > 0 && stride % (target * count) == 0 && source % stride == 0 &&
               stride * extent % (source * count) == 0) {
      if (result.source >= 0) return {-1, -1};
      result.source = i;
    } else if (stride % (source * count) != 0) {
      return {-1, -1};
    }
  }
  return result;
}

// `first` plus the offset of an element, its swizzle applied. `first` is a multiple of the
// swizzle's period.
template <Layout layout, class... Indices>
constexpr std::uint32_t swizzled_sum(std::uint32_t first, Indices... indices) {
  constexpr SwizzledLeaves leaves = swizzled_leaves(layout);
  if constexpr (layout.swizzle.is_identity()) {
    return first + sum_as<std::uint32_t, layout, true>(indices...);
  } else if constexpr (leaves.target >= 0 && leaves.source >= 0) {
    constexpr std::uint32_t mask = (1u << layout.swizzle.bits) - 1;
    constexpr auto stride = static_cast<std::uint32_t>(layout.strides[leaves.target]);
    // So many neighbours of the source's digit are turned alike.
    constexpr auto together = static_cast<std::uint32_t>(
        (std::int64_t{1} << layout.swizzle.source_bit()) / layout.strides[leaves.source]);
    const auto by = sum_as<std::uint32_t, digit_of(layout, leaves.source), true>(indices...);
    const std::uint32_t moved =
        sum_as<std::uint32_t, digit_of(layout, leaves.target), true>(indices...) * stride;
    return first + sum_as<std::uint32_t, without_digit(layout, leaves.target), true>(indices...) +
           (moved ^ (by / together & mask) << layout.swizzle.target_bit());
  } else {
    return first + layout.swizzle(sum_as<std::uint32_t, without_swizzle(layout), true>(indices...));
  }
}

}  // namespace detail

}  // namespace tw
