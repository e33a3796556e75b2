// Stores tiles whose rows are columns of D: matrices are transposed on their way to shared memory,
// so that the lines of a chunk are rows of D.
#pragma once

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/epilogue/staged_chunk.h"
#include "tilewright/isa/ptx/matrix.h"

namespace tw {

// How many of a tile's columns make the lines of a chunk: up to 64, and whole chunks make a tile.
// Where these would be short (104 columns make 13 of 8), a chunk is the tile.
constexpr unsigned transposed_lines(unsigned tile_columns) {
  unsigned lines = tile_columns < 64 ? tile_columns : 64;
  while (lines > 8 && tile_columns % lines != 0) lines -= 8;
  return lines < 32 ? tile_columns : lines;
}

template <ElementType output_type, unsigned tile_columns, class Trace>
class TransposedStore : public StagedChunk<output_type, transposed_lines(tile_columns),
                                           64 * bytes_of(output_type), Trace> {
  using Staged =
      StagedChunk<output_type, transposed_lines(tile_columns), 64 * bytes_of(output_type), Trace>;
  using Staged::bytes;
  using Staged::thread_;
  static_assert(bytes == 2, "Matrices of two-byte elements are transposed on their way.");
  static_assert(tile_columns % 8 == 0, "A matrix has eight columns.");

 public:
  using Staged::output;
  using Staged::Staged;
  static constexpr bool transposes = true;
  static constexpr unsigned chunk_rows = Staged::line_elements;  // rows of sums
  static constexpr unsigned chunk_columns = Staged::lines;
  // Columns whose values a thread works on together.
  static constexpr unsigned columns_together = chunk_columns % 32 == 0 ? 32
                                               : chunk_columns > 48    ? 8
                                                                       : chunk_columns;

  // A thread's pairs of the group that begins `column` columns into the chunk. Its warp has 16
  // rows: two matrices for eight columns.
  template <FragmentSums Sums, class Buffer, class Pair, unsigned pairs, class PlaceOf>
  TW_DEVICE void write(const Buffer& buffer, const Pair (&values)[pairs], unsigned column,
                       bool gates, const PlaceOf&) {
    static_assert(Sums::layout == FragmentLayout::Matrix && Sums::block_rows == chunk_rows,
                  "A chunk is of a warpgroup's block of 64 rows.");
    if (gates) return write_singles<Sums>(buffer, values, column);
    // Lane l addresses a line of the first eight columns and of the next, of the upper eight rows
    // and of the lower.
    const unsigned lane = thread_ % 32;
    const unsigned own_line = lane / 16 * 8 + lane % 8;
    const unsigned own_row = thread_ / 32 * 16 + lane / 8 % 2 * 8;
    const auto own = this->template steps_from<0, 8>(buffer, own_line % chunk_columns, own_row);
    TW_UNROLL
    for (unsigned i = 0; i < pairs; i += 4) {
      const SharedAddress to = own.address(column + i * 4);
      if (i + 4 <= pairs) {
        isa::stmatrix_x4_transposed(to, pack<output>(values[i]), pack<output>(values[i + 1]),
                                    pack<output>(values[i + 2]), pack<output>(values[i + 3]));
      } else {
        isa::stmatrix_x2_transposed(to, pack<output>(values[i]), pack<output>(values[i + 1]));
      }
    }
  }

  // The chunk begins at `place`, in rows and columns of sums. D has m rows and n columns.
  template <class Buffer>
  TW_DEVICE void close(Buffer& buffer, const TileOrigin& place, int m, int n, bool gates) {
    Staged::close(buffer, {place.batch, place.column, place.row, place.m_end}, m, n, gates);
  }

 private:
  // Behind a gate, lanes with an even row have a result.
  template <class Sums, class Buffer, class Pair, unsigned pairs>
  TW_DEVICE void write_singles(const Buffer& buffer, const Pair (&values)[pairs], unsigned column) {
    if (thread_ / 4 % 2 != 0) return;
    const auto staged = this->elements(buffer);
    TW_UNROLL
    for (unsigned i = 0; i < pairs; ++i) {
      const unsigned line = column + Sums::column_of(thread_, 2 * i);
      const unsigned row = Sums::row_of(thread_, 2 * i) / 2;
      const auto packed = pack<output>(values[i]);
      staged.store(first_of<bytes>(packed), line, row);
      staged.store(second_of<bytes>(packed), line + 1, row);
    }
  }
};

}  // namespace tw
