// Pairs of values and where they stand: what the nodes of an epilogue work on.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "tilewright/base/annotate.h"
#include "tilewright/isa/convert.h"
#include "tilewright/layout/element.h"
#include "tilewright/number/element_type.h"

namespace tw {

// Two neighbours of a row: what one thread holds side by side.
struct FragmentPair {
  float first;
  float second;
};
struct IntegerPair {
  std::int32_t first;
  std::int32_t second;
};

TW_DEVICE FragmentPair operator*(FragmentPair pair, float factor) {
  return {pair.first * factor, pair.second * factor};
}
TW_DEVICE FragmentPair operator*(FragmentPair left, FragmentPair right) {
  return {left.first * right.first, left.second * right.second};
}
TW_DEVICE FragmentPair operator+(FragmentPair left, FragmentPair right) {
  return {left.first + right.first, left.second + right.second};
}

// Where a tile of sums begins. Rows of the output from m_end on belong to somebody else; where sums
// are transposed, those rows are their columns.
struct TileOrigin {
  int batch;
  int row;
  int column;
  int m_end;
};

// Where a pair (width 2), or behind a gate a single value (width 1), stands in a matrix of n
// columns. What is outside holds anything and is never stored, so reads may go to the nearest place
// inside instead: they then need no branch.
template <unsigned pair_width>
struct FragmentPlace {
  static constexpr unsigned width = pair_width;
  int batch;
  int row;
  int column;
  int m_end;
  int n;

  TW_DEVICE bool row_inside() const { return row < m_end; }
  TW_DEVICE bool first_inside() const { return row_inside() && column < n; }
  TW_DEVICE bool second_inside() const { return width == 2 && row_inside() && column + 1 < n; }
  TW_DEVICE int nearest_row() const { return row < m_end ? row : m_end - 1; }
  // The column `step` columns further, or the last one.
  TW_DEVICE int nearest_column(int step) const { return column + step < n ? column + step : n - 1; }
};

TW_DEVICE FragmentPlace<1> gated(const FragmentPlace<2>& place) {
  return {place.batch, place.row, place.column >> 1, place.m_end, place.n >> 1};
}

// A pair of sums, its place, and where the chunk of the source comes from.
template <unsigned pair_width, class SourceChunk>
struct Fragment {
  static constexpr unsigned width = pair_width;
  FragmentPair sum;
  FragmentPlace<pair_width> place;
  const SourceChunk& source;
};

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
