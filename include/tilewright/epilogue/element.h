// Elements of a run-time or compile-time type in global memory, as floats.
#pragma once

#include <type_traits>

#include "tilewright/base/annotate.h"
#include "tilewright/epilogue/fragment.h"
#include "tilewright/isa/scalar.h"
#include "tilewright/layout/access.h"
#include "tilewright/layout/element.h"
#include "tilewright/number/element_type.h"

namespace tw {

template <ElementType type>
using ElementConstant = std::integral_constant<ElementType, type>;

// Calls `body` with the type as a constant: the types of sources, biases and auxiliary outputs.
template <class Body>
TW_DEVICE void with_float_type(ElementType type, const Body& body) {
  if (type == ElementType::Bf16) {
    body(ElementConstant<ElementType::Bf16>{});
  } else if (type == ElementType::Fp16) {
    body(ElementConstant<ElementType::Fp16>{});
  } else {
    body(ElementConstant<ElementType::Fp32>{});
  }
}

template <ElementType type>
TW_DEVICE float value_of(ElementBits<bytes_of(type)> bits) {
  if constexpr (type == ElementType::Bf16) {
    return static_cast<float>(Bf16::from_bits(bits));
  } else if constexpr (type == ElementType::Fp16) {
    return isa::cvt_f32_f16(bits);
  } else {
    static_assert(type == ElementType::Fp32, "Sources and biases are bf16, fp16 or fp32.");
    return std::bit_cast<float>(bits);
  }
}

template <ElementType type>
TW_DEVICE FragmentPair values_of(PairBits<bytes_of(type)> bits) {
  if constexpr (type == ElementType::Fp32) {
    return {std::bit_cast<float>(bits.get(0)), std::bit_cast<float>(bits.get(1))};
  } else if constexpr (type == ElementType::Bf16) {
    // A bf16 is the upper half of a float: the second stands where it belongs.
    return {std::bit_cast<float>(bits << 16), std::bit_cast<float>(bits & 0xffff0000u)};
  } else {
    return {value_of<type>(static_cast<std::uint16_t>(bits)),
            value_of<type>(static_cast<std::uint16_t>(bits >> 16))};
  }
}

template <ElementType type>
TW_DEVICE float read_value(const ElementBits<bytes_of(type)>* element, bool wanted = true) {
  return value_of<type>(load_element<Space::Global>(element, wanted));
}

template <ElementType type>
TW_DEVICE FragmentPair read_pair(const ElementBits<bytes_of(type)>* first, bool wanted) {
  const auto* const pair = reinterpret_cast<const PairBits<bytes_of(type)>*>(first);
  return values_of<type>(load_element<Space::Global>(pair, wanted));
}

// An m by n matrix of each batch, row-major. Pitches count elements.
struct GlobalMatrix {
  const void* data;
  std::int64_t pitch;
  std::int64_t batch_pitch;

  template <class Bits, unsigned width>
  TW_DEVICE const Bits* line(const FragmentPlace<width>& place, int row) const {
    return static_cast<const Bits*>(data) + place.batch * batch_pitch + row * pitch;
  }
  // Whether the two elements of every pair lie in one aligned word.
  template <ElementType type>
  TW_HOST_DEVICE bool in_pairs() const {
    const auto begin = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data));
    return ((begin / bytes_of(type) | pitch | batch_pitch) & 1) == 0;
  }
};

// The same, column-major: of sums whose rows are the output's columns.
struct TransposedMatrix {
  const void* data;
  std::int64_t pitch;  // from one column to the next
  std::int64_t batch_pitch;

  template <class Bits, unsigned width>
  TW_DEVICE const Bits* at(const FragmentPlace<width>& place, int row, int column) const {
    return static_cast<const Bits*>(data) + place.batch * batch_pitch + column * pitch + row;
  }
  // The elements of a pair lie in two lines.
  template <ElementType>
  static constexpr bool in_pairs() {
    return false;
  }
};

// True for places of sums whose rows are the output's columns; MatrixAt is a matrix that lies like
// the output, addressed by such places.
template <class PlaceOf>
using MatrixAt = std::conditional_t<PlaceOf::transposed, TransposedMatrix, GlobalMatrix>;

// Behind a gate that joins an even row and the next: the places of what it leaves.
template <class PlaceOf>
struct JoinedRows : PlaceOf {
  TW_DEVICE FragmentPlace<2> operator()(unsigned pair) const {
    FragmentPlace<2> place = PlaceOf::operator()(pair);
    place.row >>= 1;
    place.m_end >>= 1;
    return place;
  }
};

// Writes what is inside of a pair. `whole`: the matrix lies in_pairs, and the columns are inside.
template <ElementType type, unsigned width, class Pair>
TW_DEVICE void write_pair(const GlobalMatrix& matrix, const FragmentPlace<width>& place, Pair pair,
                          bool whole) {
  using Bits = ElementBits<bytes_of(type)>;
  Bits* const to = const_cast<Bits*>(matrix.line<Bits>(place, place.row)) + place.column;
  const auto packed = pack<type>(pair);
  if (whole && width == 2) {
    using Packed = PairBits<bytes_of(type)>;
    if (place.row_inside()) store_element<Space::Global>(reinterpret_cast<Packed*>(to), packed);
  } else {
    if (place.first_inside()) store_element<Space::Global>(to, first_of<bytes_of(type)>(packed));
    if (place.second_inside()) {
      store_element<Space::Global>(to + 1, second_of<bytes_of(type)>(packed));
    }
  }
}

template <ElementType type, class Pair>
TW_DEVICE void write_pair(const TransposedMatrix& matrix, const FragmentPlace<2>& place, Pair pair,
                          bool /*whole*/) {
  using Bits = ElementBits<bytes_of(type)>;
  Bits* const to = const_cast<Bits*>(matrix.at<Bits>(place, place.row, place.column));
  const auto packed = pack<type>(pair);
  if (place.first_inside()) store_element<Space::Global>(to, first_of<bytes_of(type)>(packed));
  if (place.second_inside()) {
    store_element<Space::Global>(to + matrix.pitch, second_of<bytes_of(type)>(packed));
  }
}

}  // namespace tw
