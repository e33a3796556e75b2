// Copying a matrix into rows that begin elsewhere, for kernels that want rows of 16 bytes'
// alignment. A thread has pieces of 16 bytes of a row.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/io/divisor.h"
#include "tilewright/io/shifted.h"
#include "tilewright/kernel/streaming.h"

namespace tw {

class CopyStream : public UsualStream {
  using Half = ShiftedPiece::Half;

 public:
  static constexpr unsigned scale_rows = 0;
  static constexpr unsigned threads = 256, least_ctas = 3, pieces = 4;
  static constexpr unsigned tile_pieces = threads * pieces;
  static constexpr int length = ShiftedPiece::length;  // halves of a piece
  struct Storage {};

  // Lengths, pitches and distances count halves.
  struct Params {
    const Half *source, *end;  // all matrices; what lies between rows may be read
    Half* elements;
    std::int64_t source_pitch, source_batch_pitch;
    std::int64_t elements_pitch, elements_batch_pitch;
    Divisor row_pieces;
    unsigned all_pieces;  // pieces of one matrix
    unsigned tiles_of_one;
    std::int64_t row_length;
    bool in_vectors;  // pieces of the elements are aligned
  };

  TW_DEVICE CopyStream(const Params& params, Storage&, unsigned thread)
      : params_(params), thread_(thread) {}

  TW_DEVICE void pass(unsigned tile) {
    const unsigned batch = tile / params_.tiles_of_one;
    const unsigned first = (tile - batch * params_.tiles_of_one) * tile_pieces + thread_;
    Piece piece[pieces];
    // One after the other, so that all loads are under way together.
    TW_UNROLL
    for (unsigned i = 0; i < pieces; ++i) piece[i] = fetched(batch, first + i * threads);
    TW_UNROLL
    for (unsigned i = 0; i < pieces; ++i) store(piece[i]);
  }

 private:
  struct Piece {
    const Half* from;
    Half* to;
    int count;      // halves that there are
    bool is_whole;  // all of them are there and have been fetched
    ShiftedPiece fetched;
  };

  TW_DEVICE Piece fetched(unsigned batch, unsigned index) const {
    Piece piece = {};
    if (index >= params_.all_pieces) return piece;
    const auto [row, in_row] = params_.row_pieces.divide(index);
    const std::int64_t column = std::int64_t{in_row} * length;
    const std::int64_t left = params_.row_length - column;
    piece.from = params_.source + batch * params_.source_batch_pitch +
                 std::int64_t{row} * params_.source_pitch + column;
    piece.to = params_.elements + batch * params_.elements_batch_pitch +
               std::int64_t{row} * params_.elements_pitch + column;
    piece.count = left < length ? static_cast<int>(left) : length;
    piece.is_whole = params_.in_vectors && left >= length &&
                     ShiftedPiece::is_inside(piece.from, params_.source, params_.end);
    if (piece.is_whole) piece.fetched.fetch(piece.from);
    return piece;
  }

  TW_DEVICE void store(const Piece& piece) const {
    if (piece.is_whole) {
      std::uint32_t words[4];
      piece.fetched.get(words);
      ShiftedPiece::Words stored;
      TW_UNROLL
      for (int i = 0; i < 4; ++i) stored.set(i, words[i]);
      store_element<Space::Global>(reinterpret_cast<ShiftedPiece::Words*>(piece.to), stored);
    } else {
      for (int i = 0; i < piece.count; ++i) {
        store_element<Space::Global>(piece.to + i, load_element<Space::Global>(piece.from + i));
      }
    }
  }

  const Params& params_;
  unsigned thread_;
};

}  // namespace tw
