// A swizzle exclusive-ors `bits` bits of an offset into `bits` other bits, `shift` places lower (or
// higher, when shift is negative). The lower of the two fields starts at bit `base`.
#pragma once

#include <cstdint>

#include "tilewright/base/require.h"

namespace tw {

// All zero means no swizzle.
struct Swizzle {
  std::int32_t bits;
  std::int32_t base;
  std::int32_t shift;

  constexpr bool is_identity() const { return bits == 0; }
  constexpr std::int32_t source_bit() const { return shift > 0 ? base + shift : base; }
  constexpr std::int32_t target_bit() const { return shift > 0 ? base : base - shift; }

  template <class Integer>
  constexpr Integer operator()(Integer offset) const {
    Integer field = offset & ((Integer{1} << bits) - 1) << source_bit();
    return offset ^ (shift > 0 ? field >> shift : field << -shift);
  }

  friend constexpr bool operator==(const Swizzle&, const Swizzle&) = default;
};

// With disjoint fields a swizzle is its own inverse, which every operation of the algebra relies
// on.
constexpr Swizzle make_swizzle(int bits, int base, int shift) {
  require(bits >= 0 && base >= 0, "swizzle: bits and base must not be negative");
  bool is_disjoint = shift >= bits || -shift >= bits;
  require(is_disjoint, "swizzle: the shift must be at least the number of bits");
  require(base + bits + (shift < 0 ? -shift : shift) <= 31, "swizzle: it must end below bit 31");
  if (bits == 0) return Swizzle{0, 0, 0};
  return Swizzle{bits, base, shift};
}

// Offsets move only inside aligned blocks of this many elements.
constexpr std::int64_t block_size(Swizzle swizzle) {
  if (swizzle.is_identity()) return 1;
  return std::int64_t{1} << (swizzle.target_bit() + swizzle.bits);
}

}  // namespace tw
