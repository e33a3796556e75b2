// Stores chunks of 128 (or 64) bytes of each row through shared memory: TMA copies one chunk while
// the group writes the next.
#pragma once

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/epilogue/element.h"
#include "tilewright/epilogue/staged_layout.h"
#include "tilewright/isa/ptx/shared_memory.h"
#include "tilewright/isa/ptx/tma.h"
#include "tilewright/layout/tile_tensor.h"
#include "tilewright/pipeline/staging.h"

namespace tw {

// `rows` is the sums' block_rows.
template <ElementType output_type, unsigned rows, class Trace, unsigned bytes_of_row = 128>
class StagedStore {
  static constexpr unsigned bytes = bytes_of(output_type);
  using Output = Staging<rows * bytes_of_row, 2, Trace>;
  using Bits = ElementBits<bytes>;
  static constexpr Layout layout = staged_layout(rows, bytes, bytes_of_row);
  using Tile = TileTensor<Bits, Space::Shared, layout>;  // (row,column)

 public:
  static constexpr unsigned row_bytes = bytes_of_row;
  static constexpr ElementType output = output_type;
  static constexpr unsigned chunk_columns = row_bytes / bytes;
  static constexpr unsigned chunk_rows = rows;
  using OutputTrace = Trace;
  using Buffers = typename Output::Buffers;
  static constexpr unsigned threads = Output::threads;

  struct Params {
    // Of D: (n, m, batch), with the swizzle of the rows and a box of (chunk_columns, rows, 1). A
    // gated D has n / 2 columns, and half the box's.
    TensorMap map;
    void* d;
    std::int64_t pitch;  // in elements
    std::int64_t batch_pitch;
    // 0: D's address or pitches do not suit TMA, the map is not read, and elements are copied.
    unsigned by_tma;
  };

  TW_DEVICE StagedStore(const Params& params, Buffers& buffers, unsigned barrier,
                        unsigned thread_in_group, Trace trace)
      : params_(params),
        output_(buffers, barrier, thread_in_group, trace),
        thread_(thread_in_group) {}

  // Owns a staging buffer. All threads of the group write(), then close().
  [[nodiscard]] TW_DEVICE auto open() { return output_.acquire(); }

  // A thread's pairs of the group that begins `column` columns into the chunk.
  template <FragmentSums Sums, class Buffer, class Pair, unsigned pairs, class PlaceOf>
  TW_DEVICE void write(const Buffer& buffer, const Pair (&values)[pairs], unsigned column,
                       bool gates, const PlaceOf&) {
    if constexpr (Sums::layout == FragmentLayout::Row) {
      write_row(buffer, values, column, gates);
    } else if (gates) {
      write_singles<Sums>(buffer, values, column);
    } else if constexpr (bytes == 2) {
      write_matrices(buffer, values, column);
    } else {
      write_pairs<Sums>(buffer, values, column);
    }
  }

  // The chunk begins at `place` of an output with m rows and n columns.
  template <class Buffer>
  TW_DEVICE void close(Buffer& buffer, const Place& place, int m, int n, bool gates) {
    const bool stores = buffer.publish();
    const int columns = gates ? chunk_columns / 2 : chunk_columns;
    const bool runs_over_rows =
        place.m_end != m && place.row + static_cast<int>(rows) > place.m_end;
    // TMA writes whole groups of 16 bytes: it would run over an edge inside one.
    const bool runs_over_columns = n % (16 / bytes) != 0 && place.column + columns > n;
    if (!params_.by_tma || runs_over_rows || runs_over_columns) {
      copy_elements(buffer, place, n, columns);
    } else if (stores) {
      const int at[3] = {place.column, place.row, place.batch};
      isa::cp_async_bulk_tensor_store(&params_.map, buffer.address(), at);
    }
  }

  TW_DEVICE void drain() { output_.drain(); }

 protected:
  template <class Buffer>
  static TW_DEVICE Tile tile(const Buffer& buffer) {
    return Tile(reinterpret_cast<Bits*>(buffer.bytes()));
  }

 private:
  template <class Buffer, class Pair, unsigned pairs>
  TW_DEVICE void write_matrices(const Buffer& buffer, const Pair (&values)[pairs],
                                unsigned column) {
    // A warp writes 16 rows, 16 columns at a time: lane l addresses eight columns of row l % 16.
    const unsigned lane = thread_ % 32;
    const unsigned own_row = 16 * (thread_ / 32) + lane % 16;
    const SharedAddress own = isa::shared_address(tile(buffer).address(own_row, lane / 16 * 8));
    TW_UNROLL
    for (unsigned i = 0; i < pairs / 4; ++i) {
      std::uint32_t packed[4];
      TW_UNROLL
      for (unsigned pair = 0; pair < 4; ++pair) packed[pair] = pack<output>(values[4 * i + pair]);
      // 16 columns further is a change of two address bits, which the swizzle only exchanges.
      isa::stmatrix_x4(own ^ ((column + i * 16) * bytes), packed[0], packed[1], packed[2],
                       packed[3]);
    }
  }

  template <class Sums, class Buffer, class Pair, unsigned pairs>
  TW_DEVICE void write_pairs(const Buffer& buffer, const Pair (&values)[pairs], unsigned column) {
    TW_UNROLL
    for (unsigned half = 0; half < 2; ++half) {  // of a matrix row: 8 rows further
      const unsigned row = Sums::row_of(thread_, 2 * half);
      const SharedAddress own =
          isa::shared_address(tile(buffer).address(row, Sums::column_of(thread_, 0)));
      TW_UNROLL
      for (unsigned i = half; i < pairs; i += 2) {
        // Eight columns further changes only bits that the first pair's column leaves zero.
        const SharedAddress to = own ^ ((column + i / 2 * 8) * bytes);
        const auto packed = pack<output>(values[i]);
        if constexpr (bytes == 4) {
          isa::store_shared_8(to, {packed.get(0), packed.get(1)});
        } else {
          isa::store_shared_2(to, packed);
        }
      }
    }
  }

  // Behind a gate neighbours belong to different lanes.
  template <class Sums, class Buffer, class Pair, unsigned pairs>
  TW_DEVICE void write_singles(const Buffer& buffer, const Pair (&values)[pairs], unsigned column) {
    TW_UNROLL
    for (unsigned half = 0; half < 2; ++half) {
      const unsigned row = Sums::row_of(thread_, 2 * half);
      const unsigned plain = row * chunk_columns + Sums::column_of(thread_, 0) / 2;
      const unsigned own = staged_layout(rows, bytes, row_bytes).swizzle(plain) * bytes;
      TW_UNROLL
      for (unsigned i = half; i < pairs; i += 2) {
        unsigned char* const to = buffer.bytes() + (own ^ ((column + i / 2 * 8) / 2 * bytes));
        store_element<Space::Shared>(reinterpret_cast<Bits*>(to),
                                     first_of<bytes>(pack<output>(values[i])));
      }
    }
  }

  template <class Buffer, class Pair, unsigned pairs>
  TW_DEVICE void write_row(const Buffer& buffer, const Pair (&values)[pairs], unsigned column,
                           bool gates) {
    if (!gates) return write_pieces(buffer, values, column);
    Pair joined[pairs / 2];
    TW_UNROLL
    for (unsigned i = 0; i < pairs / 2; ++i) {
      joined[i] = {values[2 * i].first, values[2 * i + 1].first};
    }
    write_pieces(buffer, joined, column / 2);
  }

  // 16 bytes at a time.
  template <class Buffer, class Pair, unsigned pairs>
  TW_DEVICE void write_pieces(const Buffer& buffer, const Pair (&values)[pairs], unsigned column) {
    constexpr unsigned piece_pairs = 8 / bytes;
    const SharedAddress own = isa::shared_address(tile(buffer).address(thread_, 0u));
    TW_UNROLL
    for (unsigned piece = 0; piece < pairs / piece_pairs; ++piece) {
      std::uint32_t words[4];
      TW_UNROLL
      for (unsigned i = 0; i < 4; ++i) {
        const Pair* const from = values + piece * piece_pairs;
        if constexpr (bytes == 4) {
          words[i] = pack<output>(from[i / 2]).get(i % 2);
        } else if constexpr (bytes == 2) {
          words[i] = pack<output>(from[i]);
        } else {
          words[i] = pack<output>(from[2 * i]) | std::uint32_t{pack<output>(from[2 * i + 1])} << 16;
        }
      }
      isa::store_shared_16(own ^ (column * bytes + piece * 16), words);
    }
  }

  // By all threads of the group.
  template <class Buffer>
  TW_DEVICE void copy_elements(const Buffer& buffer, const Place& place, int n, int columns) {
    const Tile staged = tile(buffer);
    Bits* const d = static_cast<Bits*>(params_.d) + place.batch * params_.batch_pitch;
    TW_ROLL
    for (unsigned step = 0; step < rows * chunk_columns / threads; ++step) {
      const unsigned i = step * threads + thread_;
      const unsigned chunk_row = i / chunk_columns;
      const unsigned chunk_column = i % chunk_columns;
      const int row = place.row + static_cast<int>(chunk_row);
      const int column = place.column + static_cast<int>(chunk_column);
      if (row < place.m_end && column < n && static_cast<int>(chunk_column) < columns) {
        store_element<Space::Global>(d + row * params_.pitch + column,
                                     staged.load(chunk_row, chunk_column));
      }
    }
  }

  const Params& params_;
  Output output_;

 protected:
  unsigned thread_;
};

}  // namespace tw
