// Rows of elements of two bytes as the lanes of a warp read them from global memory: no thread
// stores them anywhere. Lane 4 g + q has, of every eighth row from g on, the elements 8 q to
// 8 q + 7 of each 32.
#pragma once

#include "tilewright/io/shifted_copy.h"

namespace tw {

// Pieces of eight elements, of `count` rows of a lane.
template <unsigned count, unsigned pieces>
struct FetchedRows {
  ShiftedPiece of[count][pieces];
};

template <unsigned count>
class LaneRows {
 public:
  using Half = ShiftedPiece::Half;

  // Pitches count elements. What lies between rows may be read.
  struct Matrix {
    const Half *begin, *end;  // the batch's first and last
    std::int64_t pitch, batch_pitch;
    int rows;
  };

  // Rows that are not there are read as the last one.
  TW_DEVICE LaneRows(const Matrix& matrix, int length, unsigned batch, int first, unsigned lane)
      : matrix_(matrix) {
    const Half* const own = matrix.begin + batch * matrix.batch_pitch;
    const auto row = [&](int index) {
      return own + (index < matrix.rows ? index : matrix.rows - 1) * matrix.pitch;
    };
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) {
      rows_[i] = row(first + static_cast<int>(8 * i + lane / 4)) + lane % 4 * ShiftedPiece::length;
    }
    // A shifted load of the first row may begin before the matrix, one of the last end behind it.
    const Half *const lowest = row(first), *const highest = row(first + 8 * int{count} - 1);
    inner_begin_ = lowest - ShiftedPiece::shift_of(lowest) >= matrix.begin ? 0 : 1;
    const std::int64_t left = matrix.end - highest - ShiftedPiece::length;
    inner_end_ = left < length ? static_cast<int>(left) : length;
  }

  // Between these, fetch<false>() reads nothing outside of the matrices: the same for all lanes.
  TW_DEVICE int inner_begin() const { return inner_begin_; }
  TW_DEVICE int inner_end() const { return inner_end_; }

  // 32 elements of each row for each piece, from `k` on. There is no branch, so that all loads are
  // under way together. Steps are multiples of 16 bytes: a row's shift stays what it is.
  template <bool aligned, unsigned pieces>
  TW_DEVICE void fetch(FetchedRows<count, pieces>& fetched, int k) const {
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) {
      const unsigned shift = aligned ? 0 : ShiftedPiece::shift_of(rows_[i]);
      const auto* const from =
          reinterpret_cast<const ShiftedPiece::Words*>(rows_[i] + k - static_cast<int>(shift));
      TW_UNROLL
      for (unsigned piece = 0; piece < pieces; ++piece) {
        ShiftedPiece& to = fetched.of[i][piece];
        to.shift = shift;
        to.low = load_element<Space::Global>(from + 4 * piece);
        to.high = {};
        if (!aligned) to.high = load_element<Space::Global>(from + 4 * piece + 1);
      }
    }
  }
  // The same at the ends of memory and of rows of `length` elements, behind which there are zeros.
  TW_DEVICE void fetch_at_end(FetchedRows<count, 1>& fetched, int k, int length,
                              unsigned lane) const {
    const int left = length - k - static_cast<int>(lane % 4) * ShiftedPiece::length;
    TW_UNROLL
    for (unsigned i = 0; i < count; ++i) {
      fetched.of[i][0] = ShiftedCopy::fetch(rows_[i] + k, 1, left < ShiftedPiece::length ? left : 8,
                                            matrix_.begin, matrix_.end);
    }
  }

 private:
  const Matrix& matrix_;
  int inner_begin_, inner_end_;
  const Half* rows_[count];
};

}  // namespace tw
