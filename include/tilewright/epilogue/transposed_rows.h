// Stores tiles whose rows are columns of D, and of which a thread has a whole row: each thread
// writes down a column of the staged lines, so that 32 neighbours of a line come from a warp.
#pragma once

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/epilogue/staged_chunk.h"
#include "tilewright/epilogue/transposed_store.h"

namespace tw {

// A line of 128 elements is two of 64, in two blocks, each of which TMA stores with a swizzle.
template <ElementType output_type, unsigned tile_columns, class Trace>
class TransposedRows : public StagedChunk<output_type, transposed_lines(tile_columns),
                                          64 * bytes_of(output_type), Trace, 2, 2> {
  using Staged = StagedChunk<output_type, transposed_lines(tile_columns),
                             64 * bytes_of(output_type), Trace, 2, 2>;
  using Staged::bytes;
  using Staged::thread_;
  static_assert(bytes == 2, "Half a line must be the 128 bytes of a swizzle.");
  static_assert(tile_columns % 32 == 0, "A row of tensor memory is read by 32 columns.");
  static constexpr unsigned block_rows = Staged::line_elements;

 public:
  using Staged::output;
  using Staged::Staged;
  static constexpr bool transposes = true;
  static constexpr unsigned chunk_rows = 2 * block_rows;  // rows of sums
  static constexpr unsigned chunk_columns = Staged::lines;
  static constexpr unsigned columns_together = 32;

  // A thread's pairs of the group that begins `column` columns into the chunk: two lines of a
  // column each. Behind a gate, the even one of two neighbours has their result.
  template <FragmentSums Sums, class Buffer, class Pair, unsigned pairs, class PlaceOf>
  TW_DEVICE void write(const Buffer& buffer, const Pair (&values)[pairs], unsigned column,
                       bool gates, const PlaceOf&) {
    static_assert(Sums::layout == FragmentLayout::Row && Sums::block_rows == chunk_rows,
                  "A chunk is of the rows that a warpgroup's threads have.");
    static_assert(pairs % 4 == 0, "The swizzle repeats after eight lines.");
    if (gates && thread_ % 2 != 0) return;
    const unsigned row = thread_ % block_rows;
    const unsigned element = gates ? row / 2 : row;
    TW_UNROLL
    for (unsigned first = 0; first < 8; first += 2) {
      const auto upper = lines_from(buffer, first, element);
      const auto lower = lines_from(buffer, first + 1, element);
      TW_UNROLL
      for (unsigned i = first / 2; i < pairs; i += 4) {
        const auto packed = pack<output>(values[i]);
        const unsigned line = column + i / 4 * 8;
        store_element<Space::Shared>(upper.address(line), first_of<bytes>(packed));
        store_element<Space::Shared>(lower.address(line), second_of<bytes>(packed));
      }
    }
  }

  // The chunk begins at `place`, in rows and columns of sums. D has m rows and n columns.
  template <class Buffer>
  TW_DEVICE void close(Buffer& buffer, const TileOrigin& place, int m, int n, bool gates) {
    const bool stores = buffer.publish();
    const int columns = static_cast<int>(gates ? block_rows / 2 : block_rows);
    TW_UNROLL
    for (int block = 0; block < 2; ++block) {
      const TileOrigin at = {place.batch, place.column, place.row + block * columns, place.m_end};
      Staged::put(Staged::block_of(buffer, static_cast<unsigned>(block)), at, m, n, gates, stores);
    }
  }

 private:
  // Every eighth line of the thread's block, at one of its elements.
  template <class Buffer>
  TW_DEVICE auto lines_from(const Buffer& buffer, unsigned line, unsigned element) const {
    return this->elements(Staged::block_of(buffer, thread_ / block_rows))
        .template steps_from<0, 8>(line, element);
  }
};

}  // namespace tw
