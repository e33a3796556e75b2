// Stores tiles of which a row is a column of the output: matrices are transposed on their way to
// shared memory, where the lines of a chunk are the output's rows; TMA copies one chunk while the
// group writes the next.
#pragma once

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/epilogue/staged_store.h"

namespace tw {

// How many of a tile's columns make the lines of a chunk: up to 64, and whole chunks make a tile.
// Where these would be short (104 columns make 13 of 8), a chunk is the tile.
constexpr unsigned transposed_lines(unsigned tile_columns) {
  unsigned lines = tile_columns < 64 ? tile_columns : 64;
  while (lines > 8 && tile_columns % lines != 0) lines -= 8;
  return lines < 32 ? tile_columns : lines;
}

template <ElementType output_type, unsigned tile_columns, class Trace>
class TransposedStore {
  static constexpr unsigned bytes = bytes_of(output_type);
  static_assert(bytes == 2, "Matrices of two-byte elements are transposed on their way.");
  static_assert(tile_columns % 8 == 0, "A matrix has eight columns.");

 public:
  static constexpr bool transposes = true;
  static constexpr ElementType output = output_type;
  static constexpr unsigned chunk_rows = 64;  // of sums: what a line of the chunk holds
  static constexpr unsigned chunk_columns = transposed_lines(tile_columns);  // the chunk's lines
  static constexpr unsigned row_bytes = chunk_rows * bytes;
  // Columns whose values a thread works on together.
  static constexpr unsigned columns_together = chunk_columns % 32 == 0 ? 32
                                               : chunk_columns > 48    ? 8
                                                                       : chunk_columns;

 private:
  using Output = Staging<chunk_columns * row_bytes, 2, Trace>;
  using Bits = ElementBits<bytes>;
  static constexpr Layout layout = staged_layout(chunk_columns, bytes, row_bytes);
  using Tile = TileTensor<Bits, Space::Shared, layout>;  // (line,row of sums)

 public:
  using OutputTrace = Trace;
  using Buffers = typename Output::Buffers;
  static constexpr unsigned threads = Output::threads;

  struct Params {
    // D as (rows of sums, columns of sums, batch), with the swizzle of 128 bytes and a box of
    // (chunk_rows, chunk_columns, 1). A gated D has half the rows, and half the box's.
    TensorMap map;
    void* d;
    std::int64_t pitch;  // from one column of sums to the next, in elements
    std::int64_t batch_pitch;
    // 0: D's address or pitches do not suit TMA, the map is not read, and elements are copied.
    unsigned by_tma;
  };

  TW_DEVICE TransposedStore(const Params& params, Buffers& buffers, unsigned barrier,
                            unsigned thread_in_group, Trace trace)
      : params_(params),
        output_(buffers, barrier, thread_in_group, trace),
        thread_(thread_in_group) {}

  // Owns a staging buffer. All threads of the group write(), then close().
  [[nodiscard]] TW_DEVICE auto open() { return output_.acquire(); }

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
    const SharedAddress own =
        isa::shared_address(tile(buffer).address(own_line % chunk_columns, own_row));
    TW_UNROLL
    for (unsigned i = 0; i < pairs; i += 4) {
      // The swizzle repeats every eight lines.
      const SharedAddress to = own + (column + i * 4) * row_bytes;
      if (i + 4 <= pairs) {
        isa::stmatrix_x4_transposed(to, pack<output>(values[i]), pack<output>(values[i + 1]),
                                    pack<output>(values[i + 2]), pack<output>(values[i + 3]));
      } else {
        isa::stmatrix_x2_transposed(to, pack<output>(values[i]), pack<output>(values[i + 1]));
      }
    }
  }

  // The chunk begins at `place` of an output with m rows and n columns.
  template <class Buffer>
  TW_DEVICE void close(Buffer& buffer, const Place& place, int m, int n, bool gates) {
    const bool stores = buffer.publish();
    const int columns = gates ? chunk_rows / 2 : chunk_rows;
    const bool runs_over_rows =
        place.m_end != m && place.column + static_cast<int>(chunk_columns) > place.m_end;
    // TMA writes whole groups of 16 bytes: it would run over an edge inside one.
    const bool runs_over_columns =
        n % (16 / static_cast<int>(bytes)) != 0 && place.row + columns > n;
    if (!params_.by_tma || runs_over_rows || runs_over_columns) {
      copy_elements(buffer, place, n, columns);
    } else if (stores) {
      const int at[3] = {place.row, place.column, place.batch};
      isa::cp_async_bulk_tensor_store(&params_.map, buffer.address(), at);
    }
  }

  TW_DEVICE void drain() { output_.drain(); }

 private:
  template <class Buffer>
  static TW_DEVICE Tile tile(const Buffer& buffer) {
    return Tile(reinterpret_cast<Bits*>(buffer.bytes()));
  }

  // Behind a gate, lanes with an even row have a result.
  template <class Sums, class Buffer, class Pair, unsigned pairs>
  TW_DEVICE void write_singles(const Buffer& buffer, const Pair (&values)[pairs], unsigned column) {
    if (thread_ / 4 % 2 != 0) return;
    const Tile staged = tile(buffer);
    TW_UNROLL
    for (unsigned i = 0; i < pairs; ++i) {
      const unsigned line = column + Sums::column_of(thread_, 2 * i);
      const unsigned row = Sums::row_of(thread_, 2 * i) / 2;
      const auto packed = pack<output>(values[i]);
      staged.store(first_of<bytes>(packed), line, row);
      staged.store(second_of<bytes>(packed), line + 1, row);
    }
  }

  // By all threads of the group.
  template <class Buffer>
  TW_DEVICE void copy_elements(const Buffer& buffer, const Place& place, int n, int columns) {
    const Tile staged = tile(buffer);
    Bits* const d = static_cast<Bits*>(params_.d) + place.batch * params_.batch_pitch;
    TW_ROLL
    for (unsigned step = 0; step < chunk_columns * chunk_rows / threads; ++step) {
      const unsigned i = step * threads + thread_;
      const unsigned chunk_row = i / chunk_rows;
      const unsigned chunk_column = i % chunk_rows;
      const int row = place.column + static_cast<int>(chunk_row);
      const int column = place.row + static_cast<int>(chunk_column);
      if (row < place.m_end && column < n && static_cast<int>(chunk_column) < columns) {
        store_element<Space::Global>(d + row * params_.pitch + column,
                                     staged.load(chunk_row, chunk_column));
      }
    }
  }

  const Params& params_;
  Output output_;
  unsigned thread_;
};

}  // namespace tw
