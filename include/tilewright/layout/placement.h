// What a tensor holds beside its pointer: run-time pitches, and the part of its position that the
// pointer cannot take.
#pragma once

#include "tilewright/layout/layout.h"

namespace tw {

// The distance in bytes that each axis of a layout stands for.
template <int count>
struct Pitches {
  std::int64_t bytes[count];
};
template <>
struct Pitches<0> {};

namespace detail {

// What the pointer of a slice does not hold, axis by axis: with run-time pitches the whole position
// (so that one product per pitch is enough however often a tensor is cut), else what goes through a
// swizzle or is no whole number of bytes.
template <int count>
struct Origin {
  unsigned values[count];
};
template <>
struct Origin<0> {};

// Offsets that are multiples of this can be added to the pointer.
constexpr std::int64_t pointer_unit(const Layout& layout, int bits) {
  Swizzle swizzle = layout.swizzle;
  int source = swizzle.source_bit();
  int target = swizzle.target_bit();
  std::int64_t period = std::int64_t{1} << (swizzle.bits + (source > target ? source : target));
  std::int64_t whole_bytes = 8 / greatest_common_divisor(8, bits);
  return period > whole_bytes ? period : whole_bytes;
}

constexpr bool counts_forward(const Layout& layout) {
  for (int i = 0; i < layout.leaves; ++i) {
    if (layout.axis(i) == 0 && layout.strides[i] < 0) return false;
  }
  return true;
}

// With another stride, the offset of a dynamic index could leave 32 bits: such a stride is a pitch.
constexpr bool has_plain_extents(const Layout& layout) {
  for (int i = 0; i < layout.leaves; ++i) {
    if (layout.extents[i] == dyn && layout.axis(i) == 0 && absolute(layout.strides[i]) > 1) {
      return false;
    }
  }
  return true;
}

}  // namespace detail

}  // namespace tw
