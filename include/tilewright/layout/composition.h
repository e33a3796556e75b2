// composition(a, b) is the layout of a(b(c)), with the coordinates of b. It is refused where no
// layout computes that: a silently wrong one would be a wrong kernel.
#pragma once

#include "tilewright/layout/coalesce.h"
#include "tilewright/layout/tiler.h"

namespace tw {

namespace detail {

enum class Fit {
  exists,
  has_axis,
  overlaps,
  splits_dynamic,
  crosses_dynamic,
  straddles,
  mixes_signs
};

// nvcc shows the line of the failed call, so each sentence stands on the line of its own require.
constexpr void require_fit(Fit fit) {
  require(fit != Fit::has_axis, "composition: a stride of the right operand has an axis");
  require(fit != Fit::overlaps, "composition: right leaves overlap in one left leaf");
  require(fit != Fit::splits_dynamic, "composition: it would split a dynamic extent on the right");
  require(fit != Fit::crosses_dynamic, "composition: a dynamic extent is not last in its mode");
  require(fit != Fit::straddles, "composition: the right operand straddles two left leaves");
  require(fit != Fit::mixes_signs, "composition: the right operand has strides of both signs");
}

// Composes one layout with the leaves of another, one after the other. Coordinates of the left
// layout are the digits of the right one's offset, so adding right leaves must never carry from one
// left leaf into the next: `reach` holds the largest digit seen so far in each left leaf.
struct Composer {
  Layout left;
  Slots reach;
  bool is_forward;   // a right stride is positive
  bool is_backward;  // a right stride is negative
  bool splits;       // an offset has digits before the last left leaf

  constexpr Fit note(int leaf, std::int64_t extent, std::int64_t step) {
    splits = true;
    reach.set(leaf, reach[leaf] + checked_product(extent - 1, step));
    return reach[leaf] < left.extents[leaf] ? Fit::exists : Fit::overlaps;
  }

  // Appends the result to `result`, `comma_depth` before its first leaf and `inner_depth` between
  // its leaves.
  constexpr Fit compose(Layout& result, Leaf right, int comma_depth, int inner_depth) {
    if (right.axis != 0) return Fit::has_axis;
    if (right.stride == 0) {
      result.push(right, comma_depth);
      return Fit::exists;
    }
    bool is_negative = right.stride < 0;
    (is_negative ? is_backward : is_forward) |= right.extent != 1;
    std::int64_t sign = is_negative ? -1 : 1;
    std::int64_t step = absolute(right.stride);
    std::int64_t rest = right.extent;
    bool is_first = true;
    auto push = [&](int leaf, std::int64_t extent) {
      std::int64_t stride = checked_product(sign * step, left.strides[leaf]);
      result.push(Leaf{extent, stride, stride == 0 ? 0 : left.axis(leaf)}, comma_depth);
      comma_depth = inner_depth;
      is_first = false;
    };
    for (int i = 0; i + 1 < left.leaves; ++i) {
      std::int64_t extent = left.extents[i];
      if (extent == dyn) return Fit::crosses_dynamic;
      if (rest == 1 || step % extent == 0) {
        step = ceil_divide(step, extent);
        continue;
      }
      if (rest == dyn) return Fit::splits_dynamic;
      if (checked_product(rest - 1, step) < extent) {
        push(i, rest);
        return note(i, rest, step);
      }
      std::int64_t taken = extent / step;
      if (extent % step != 0 || rest % taken != 0) return Fit::straddles;
      push(i, taken);
      if (Fit fit = note(i, taken, step); fit != Fit::exists) return fit;
      rest /= taken;
      step = 1;
    }
    if (rest != 1 || is_first) push(left.leaves - 1, rest);
    return Fit::exists;
  }

  // The digits of a sum of positive and negative offsets are not the sums of their digits.
  constexpr Fit finish() const {
    return is_forward && is_backward && splits ? Fit::mixes_signs : Fit::exists;
  }
};

constexpr Composer composer(const Layout& left) {
  Composer result{};
  result.left = coalesce_leaves(left, LeafRange{0, left.leaves}, true);
  return result;
}

constexpr bool is_power_of_two(std::int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

constexpr int floor_log2(std::int64_t value) {
  int exponent = 0;
  while (value >>= 1) ++exponent;
  return exponent;
}

// Whether the layout sends the bits of every x below 2^bits to different bits, each to one.
constexpr bool moves_bits(const Layout& layout, int bits) {
  for (int i = 0; i + 1 < layout.leaves; ++i) {
    if (!is_power_of_two(layout.extents[i])) return false;
  }
  std::int64_t seen = 0;
  for (int bit = 0; bit < bits; ++bit) {
    std::int64_t image = offset(layout, std::int64_t{1} << bit);
    if (!is_power_of_two(image) || (seen & image) != 0) return false;
    seen |= image;
  }
  return true;
}

// Whether `bits` bits from `first` on stay neighbours.
constexpr bool moves_together(const Layout& layout, int first, int bits) {
  std::int64_t image = offset(layout, std::int64_t{1} << first);
  for (int bit = 0; bit < bits; ++bit) {
    if (offset(layout, std::int64_t{1} << (first + bit)) != image << bit) return false;
  }
  return true;
}

// The swizzle s' with layout(s(x)) = s'(layout(x)) for every x below `domain`. It exists when the
// layout only moves bits, and moves each field of the swizzle as a whole.
constexpr Swizzle carry_through(const Layout& layout, Swizzle swizzle, std::int64_t domain) {
  int source = swizzle.source_bit();
  int target = swizzle.target_bit();
  int used = swizzle.bits + (source > target ? source : target);
  while ((std::int64_t{1} << used) < domain) ++used;
  bool is_carried = moves_bits(layout, used) && moves_together(layout, source, swizzle.bits) &&
                    moves_together(layout, target, swizzle.bits);
  require(is_carried, "composition: the left operand tears the swizzled bits apart");
  source = floor_log2(offset(layout, std::int64_t{1} << source));
  target = floor_log2(offset(layout, std::int64_t{1} << target));
  return make_swizzle(swizzle.bits, source < target ? source : target, source - target);
}

}  // namespace detail

constexpr Layout composition(const Layout& left, const Layout& right) {
  detail::Composer composer = detail::composer(left);
  Layout result{};
  for (int i = 0; i < right.leaves; ++i) {
    int before = right.comma_before(i);
    int after = i + 1 < right.leaves ? right.comma_before(i + 1) : 0;
    int inner = right.leaves == 1 ? 0 : 1 + (before > after ? before : after);
    detail::require_fit(composer.compose(result, right.leaf(i), before, inner));
  }
  detail::require_fit(composer.finish());
  result.swizzle = left.swizzle;
  if (!right.swizzle.is_identity()) {
    require(left.swizzle.is_identity(), "composition: both operands have a swizzle");
    result.swizzle = detail::carry_through(composer.left, right.swizzle, cosize(right));
  }
  return result;
}

// Mode by mode: composition of each mode with the tile for it.
constexpr Layout composition(const Layout& left, const Tiler& right) {
  require(right.rank <= rank(left), "composition: the tiler has more modes than the layout");
  Layout result{};
  for (int i = 0; i < right.rank; ++i) push_mode(result, composition(mode(left, i), right[i]));
  return result;
}

constexpr Layout composition(Swizzle left, const Layout& right) {
  return with_swizzle(right, left);
}

}  // namespace tw
