// Stores tiles whose rows are rows of D: chunks of 128 (or 64) bytes of each row.
#pragma once

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/epilogue/staged_chunk.h"
#include "tilewright/isa/ptx/matrix.h"
#include "tilewright/isa/ptx/shared_memory.h"

namespace tw {

// `rows` is the sums' block_rows.
template <ElementType output_type, unsigned rows, class Trace, unsigned bytes_of_row = 128,
          unsigned buffers = 2>
class StagedStore : public StagedChunk<output_type, rows, bytes_of_row, Trace, buffers> {
  using Staged = StagedChunk<output_type, rows, bytes_of_row, Trace, buffers>;
  using Staged::bytes;

 public:
  using Staged::output;
  using Staged::Staged;
  static constexpr unsigned chunk_columns = Staged::line_elements;
  static constexpr unsigned chunk_rows = Staged::lines;

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

 private:
  template <class Buffer, class Pair, unsigned pairs>
  TW_DEVICE void write_matrices(const Buffer& buffer, const Pair (&values)[pairs],
                                unsigned column) {
    // A warp writes 16 rows, 16 columns at a time: lane l addresses eight columns of row l % 16.
    const unsigned lane = thread_ % 32;
    const unsigned own_row = 16 * (thread_ / 32) + lane % 16;
    const auto own = this->template steps_from<1, 16>(buffer, own_row, lane / 16 * 8);
    TW_UNROLL
    for (unsigned i = 0; i < pairs / 4; ++i) {
      std::uint32_t packed[4];
      TW_UNROLL
      for (unsigned pair = 0; pair < 4; ++pair) packed[pair] = pack<output>(values[4 * i + pair]);
      isa::stmatrix_x4(own.address(column + i * 16), packed[0], packed[1], packed[2], packed[3]);
    }
  }

  template <class Sums, class Buffer, class Pair, unsigned pairs>
  TW_DEVICE void write_pairs(const Buffer& buffer, const Pair (&values)[pairs], unsigned column) {
    TW_UNROLL
    for (unsigned half = 0; half < 2; ++half) {  // the second half's rows lie 8 further
      const unsigned row = Sums::row_of(thread_, 2 * half);
      const auto own = this->template steps_from<1, 8>(buffer, row, Sums::column_of(thread_, 0));
      TW_UNROLL
      for (unsigned i = half; i < pairs; i += 2) {
        const SharedAddress to = own.address(column + i / 2 * 8);
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
      const auto own =
          this->elements(buffer).template steps_from<1, 4>(row, Sums::column_of(thread_, 0) / 2);
      TW_UNROLL
      for (unsigned i = half; i < pairs; i += 2) {
        store_element<Space::Shared>(own.address((column + i / 2 * 8) / 2),
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
    const auto own = this->template steps_from<1, 2 * piece_pairs>(buffer, thread_, 0u);
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
      isa::store_shared_16(own.address(column + piece * 2 * piece_pairs), words);
    }
  }

 protected:
  using Staged::thread_;
};

}  // namespace tw
