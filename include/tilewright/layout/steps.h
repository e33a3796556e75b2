// From one element of a tile to others of the same mode, without the layout being computed again:
// the others lie a constant away, which is added to the first's offset or flips some of its bits.
//
//   (64,64):(64,1) of two bytes, swizzle {3,3,3}; a lane has row r and columns c, c + 16, ...
//   tile.steps_from<1, 16>(r, c).address(32)    flips the bits of 64: columns stay in their line
//   tile.steps_from<0, 8>(r, c).address(16)     adds 2048: the swizzle repeats every eight rows
#pragma once

#include "tilewright/layout/composition.h"
#include "tilewright/layout/indexing.h"
#include "tilewright/layout/placement.h"

namespace tw {

enum class StepKind { Adds, Flips, Neither };

namespace detail {

// The bits that digits of a leaf change.
constexpr std::uint64_t bits_of_leaf(const Leaf& leaf) {
  std::uint64_t bits = 0;
  for (std::int64_t digit = 0; digit < leaf.extent; ++digit) {
    bits |= static_cast<std::uint64_t>(digit * leaf.stride);
  }
  return bits;
}

// Whether every offset is the exclusive-or of what its digits stand for: no two share a bit.
constexpr bool never_carries(const Layout& layout) {
  std::uint64_t seen = 0;
  for (int i = 0; i < layout.leaves; ++i) {
    if (layout.strides[i] < 0) return false;
    const std::uint64_t bits = bits_of_leaf(layout.leaf(i));
    if ((seen & bits) != 0) return false;
    seen |= bits;
  }
  return true;
}

// The offsets of indices 0, step, 2 step, ... of a mode, without the swizzle.
constexpr Layout stepped_mode(const Layout& layout, int mode_index, std::int64_t step) {
  const Layout whole_mode = mode(without_swizzle(layout), mode_index);
  return composition(whole_mode, single(size(whole_mode) / step, step));
}

// One mode in two: (index % step, index / step).
constexpr Layout split_mode(const Layout& layout, int mode_index, std::int64_t step) {
  Layout result{};
  for (int i = 0; i < rank(layout); ++i) {
    const Layout whole_mode = mode(without_swizzle(layout), i);
    if (i == mode_index) {
      push_mode(result, composition(whole_mode, single(step, 1)));
      push_mode(result, stepped_mode(layout, i, step));
    } else {
      push_mode(result, whole_mode);
    }
  }
  return result;
}

}  // namespace detail

// What `step` more indices of a mode, or a multiple of them, do to an offset.
//
// Adds: every step leads equally far, by a multiple of what the swizzle repeats after.
// Flips: from an index below `step` on, no digit carries into another. An offset is then the
// exclusive-or of what its digits stand for, and swizzle(a ^ b) is swizzle(a) ^ swizzle(b). Steps
// stay inside of what the swizzle repeats after: so far, the bits of an address are the offset's.
constexpr StepKind step_kind(const Layout& layout, int mode_index, std::int64_t step) {
  require(is_static(layout), "step_kind: an extent is known only at run time");
  const Layout whole_mode = mode(without_swizzle(layout), mode_index);
  if (size(whole_mode) % step != 0) return StepKind::Neither;
  const std::int64_t period = detail::pointer_unit(layout, 8);
  if (offset(whole_mode, step) % period == 0 && detail::goes_in_steps(whole_mode, step)) {
    return StepKind::Adds;
  }
  const Layout steps = detail::stepped_mode(layout, mode_index, step);
  const bool stays = cosize(steps) <= period;
  const bool flips = stays && detail::never_carries(detail::split_mode(layout, mode_index, step));
  return flips ? StepKind::Flips : StepKind::Neither;
}

// The element at `indices` of a layout, and the others of one mode that stand a multiple of `step`
// indices further. `own` is the offset of the first, or its address.
template <Layout layout, int mode_index, unsigned step>
class Steps {
  static constexpr StepKind kind = step_kind(layout, mode_index, step);
  static_assert(kind != StepKind::Neither,
                "steps_from: the way from one element to the others is no constant");
  static constexpr Layout plain_mode = mode(without_swizzle(layout), mode_index);

  // Whether a step changes bits that the swizzle reads. Otherwise the swizzle leaves it as it is.
  static constexpr bool is_swizzled() {
    const Layout steps = detail::stepped_mode(layout, mode_index, step);
    std::uint64_t bits = 0;
    for (int i = 0; i < steps.leaves; ++i) bits |= detail::bits_of_leaf(steps.leaf(i));
    return layout.swizzle(bits) != bits;
  }

 public:
  template <class... Indices>
  TW_HOST_DEVICE constexpr explicit Steps(std::uint32_t own, [[maybe_unused]] Indices... indices)
      : own_(own) {
    static_assert(sizeof...(Indices) == rank(layout), "steps_from: give one index for each mode");
#if !TW_ON_DEVICE
    const unsigned at[] = {static_cast<unsigned>(indices)...};
    const bool is_first = kind == StepKind::Adds || at[mode_index] < step;
    require(is_first, "steps_from: the first index lies beyond the first step");
#endif
  }

  // The address (or offset) of the element `distance` indices further, a multiple of the step.
  TW_HOST_DEVICE constexpr std::uint32_t address(unsigned distance) const {
#if !TW_ON_DEVICE
    require(distance % step == 0, "steps_from: the distance is no multiple of the step");
#endif
    const auto way = detail::sum_as<std::uint32_t, plain_mode, true>(distance);
    if constexpr (kind == StepKind::Adds) {
      return own_ + way;
    } else if constexpr (is_swizzled()) {
      return own_ ^ layout.swizzle(way);
    } else {
      return own_ ^ way;
    }
  }

 private:
  std::uint32_t own_;
};

}  // namespace tw
