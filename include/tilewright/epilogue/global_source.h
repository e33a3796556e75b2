// C (or a residual) where it lies: in global memory.
#pragma once

#include "tilewright/epilogue/element.h"

namespace tw {

// Each chunk of the fragment loop asks its supply for a SourceChunk and lets it go when all its
// values are read. A SourceChunk reads one value at a place, or where the columns of a pair are
// inside and it has them in_pairs(), both at once.
struct GlobalSource {
  static constexpr bool is_staged = false;  // true: a role has brought it to shared memory
  TW_DEVICE GlobalSource next(int /*row*/, int /*column*/) { return {}; }

  template <ElementType type, class Matrix>
  TW_DEVICE bool in_pairs(const Matrix& matrix) const {
    return matrix.template in_pairs<type>();
  }
  template <ElementType type>
  TW_DEVICE FragmentPair pair(const GlobalMatrix& matrix, const FragmentPlace<2>& place) const {
    using Bits = ElementBits<bytes_of(type)>;
    return read_pair<type>(matrix.line<Bits>(place, place.nearest_row()) + place.column,
                           place.row_inside());
  }
  template <ElementType type, unsigned width>
  TW_DEVICE float value(const GlobalMatrix& matrix, const FragmentPlace<width>& place,
                        int step) const {
    using Bits = ElementBits<bytes_of(type)>;
    // In bytes: of elements, the compiler would add the column before it multiplies by their size,
    // for each value anew.
    const std::int64_t line =
        (place.batch * matrix.batch_pitch + place.nearest_row() * matrix.pitch) * bytes_of(type);
    const auto* const row = static_cast<const unsigned char*>(matrix.data) + line;
    return read_value<type>(reinterpret_cast<const Bits*>(row) + place.nearest_column(step),
                            place.row_inside() && place.column + step < place.n);
  }
  template <ElementType type, unsigned width>
  TW_DEVICE float value(const TransposedMatrix& matrix, const FragmentPlace<width>& place,
                        int step) const {
    using Bits = ElementBits<bytes_of(type)>;
    return read_value<type>(matrix.at<Bits>(place, place.nearest_row(), place.nearest_column(step)),
                            place.row_inside() && place.column + step < place.n);
  }
};

}  // namespace tw
