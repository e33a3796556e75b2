// Pairs of floats in the output's type.
#pragma once

#include <bit>
#include <type_traits>

#include "tilewright/base/annotate.h"
#include "tilewright/epilogue/fragment.h"
#include "tilewright/isa/convert.h"
#include "tilewright/layout/element.h"
#include "tilewright/number/element_type.h"

namespace tw {

// The bits of one element and of two neighbours.
template <unsigned bytes>
using ElementBits =
    std::conditional_t<bytes == 1, std::uint8_t,
                       std::conditional_t<bytes == 2, std::uint16_t, std::uint32_t>>;
template <unsigned bytes>
using PairBits =
    std::conditional_t<bytes == 1, std::uint16_t,
                       std::conditional_t<bytes == 2, std::uint32_t, Vector<std::uint32_t, 2>>>;

// Nearest even; fp16 overflows to infinity, e4m3 and s32 saturate, s32 makes zero of NaN.
template <ElementType type>
TW_DEVICE PairBits<bytes_of(type)> pack(FragmentPair pair) {
  if constexpr (type == ElementType::Bf16) {
    return isa::cvt_bf16x2(pair.first, pair.second);
  } else if constexpr (type == ElementType::Fp16) {
    return isa::cvt_f16x2(pair.first, pair.second);
  } else if constexpr (type == ElementType::E4m3) {
    return isa::cvt_e4m3x2(pair.first, pair.second);
  } else if constexpr (type == ElementType::S32) {
    return {{static_cast<std::uint32_t>(isa::cvt_s32(pair.first)),
             static_cast<std::uint32_t>(isa::cvt_s32(pair.second))}};
  } else {
    static_assert(type == ElementType::Fp32, "Outputs are bf16, fp16, fp32, e4m3 or s32.");
    return {{std::bit_cast<std::uint32_t>(pair.first), std::bit_cast<std::uint32_t>(pair.second)}};
  }
}

template <ElementType type>
TW_DEVICE PairBits<4> pack(IntegerPair pair) {
  static_assert(type == ElementType::S32, "Integers that nothing is done to are stored as s32.");
  return {{static_cast<std::uint32_t>(pair.first), static_cast<std::uint32_t>(pair.second)}};
}

template <unsigned bytes>
TW_DEVICE ElementBits<bytes> first_of(PairBits<bytes> pair) {
  if constexpr (bytes == 4) {
    return pair.get(0);
  } else {
    return static_cast<ElementBits<bytes>>(pair);
  }
}
template <unsigned bytes>
TW_DEVICE ElementBits<bytes> second_of(PairBits<bytes> pair) {
  if constexpr (bytes == 4) {
    return pair.get(1);
  } else {
    return static_cast<ElementBits<bytes>>(pair >> 8 * bytes);
  }
}

}  // namespace tw
