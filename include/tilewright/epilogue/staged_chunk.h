// Chunks of D on their way through shared memory: a group of threads writes one while TMA copies
// the one before. The stores that derive from it say which sums make a line of a chunk.
#pragma once

#include "tilewright/epilogue/contracts.h"
#include "tilewright/epilogue/element.h"
#include "tilewright/epilogue/staged_layout.h"
#include "tilewright/isa/ptx/tma_store.h"
#include "tilewright/layout/shared_tile.h"
#include "tilewright/pipeline/staging.h"

namespace tw {

// A buffer may hold several blocks of such lines, which are stored one by one.
template <ElementType output_type, unsigned num_lines, unsigned bytes_of_line, class Trace,
          unsigned num_buffers = 2, unsigned blocks = 1>
class StagedChunk : public UsualStore {
  static constexpr unsigned block_bytes = num_lines * bytes_of_line;
  using Output = Staging<blocks * block_bytes, num_buffers, Trace>;

 public:
  static constexpr ElementType output = output_type;
  // A line is of a row of D.
  static constexpr unsigned lines = num_lines;
  static constexpr unsigned line_bytes = bytes_of_line;
  static constexpr unsigned line_elements = line_bytes / bytes_of(output);
  static constexpr unsigned gated_elements = line_elements / 2;  // behind a gate
  using OutputTrace = Trace;
  using Buffers = typename Output::Buffers;
  static constexpr unsigned threads = Output::threads;

  struct Params {
    // D as (columns, rows, batch), with the swizzle of the lines and a box of
    // (line_elements, lines, 1). A gated D has half the columns, and half the box's.
    TensorMap map;
    void* d;
    std::int64_t pitch;  // from row to row, in elements
    std::int64_t batch_pitch;
    // 0: D's address or pitches do not suit TMA, the map is not read, and elements are copied.
    unsigned by_tma;
  };

  TW_DEVICE StagedChunk(const Params& params, Buffers& buffers, unsigned barrier,
                        unsigned thread_in_group, Trace trace)
      : params_(params),
        output_(buffers, barrier, thread_in_group, trace),
        thread_(thread_in_group) {}

  // Owns a staging buffer. All threads of the group write() it, then close() it.
  [[nodiscard]] TW_DEVICE auto open() { return output_.acquire(); }

  // More than two buffers are there for tiles that are written whole, and then stored. All threads
  // of the group write() each chunk, then put() it, once the buffers are published.
  static constexpr bool stores_tiles = num_buffers > 2;
  static constexpr bool stores_by_tma = true;
  template <unsigned chunks>
  [[nodiscard]] TW_DEVICE auto open_tile() {
    return output_.template acquire<chunks>();
  }

  // The chunk begins at `place` of D, which has m rows and n columns.
  template <class Buffer>
  TW_DEVICE void close(Buffer& buffer, const TileOrigin& place, int m, int n, bool gates) {
    put(buffer, place, m, n, gates, buffer.publish());
  }
  // `stores` in the thread that issues the store of a chunk.
  template <class Buffer>
  TW_DEVICE void put(const Buffer& buffer, const TileOrigin& place, int m, int n, bool gates,
                     bool stores) {
    const int columns = gates ? line_elements / 2 : line_elements;
    const bool runs_over_rows =
        place.m_end != m && place.row + static_cast<int>(lines) > place.m_end;
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
  static constexpr unsigned bytes = bytes_of(output);
  using Bits = ElementBits<bytes>;

  template <class Buffer>
  static TW_DEVICE auto block_of(const Buffer& buffer, unsigned block) {
    return typename Output::Buffer(buffer.bytes() + block * block_bytes);
  }
  template <class Buffer>
  static TW_DEVICE auto elements(const Buffer& buffer) {  // (line,element)
    return TileTensor<Bits, Space::Shared, layout>(reinterpret_cast<Bits*>(buffer.bytes()));
  }
  // For instructions: an element of a buffer, and those a multiple of `step` further in one mode.
  template <int mode_index, unsigned step, class Buffer>
  static TW_DEVICE auto steps_from(const Buffer& buffer, unsigned line, unsigned element) {
    const SharedAddress own = isa::shared_address(elements(buffer).address(line, element));
    return SharedTile<Bits, layout>::template steps_at<mode_index, step>(own, line, element);
  }

 private:
  static constexpr Layout layout = staged_layout(lines, bytes, line_bytes);

  // All threads of the group take part.
  template <class Buffer>
  TW_DEVICE void copy_elements(const Buffer& buffer, const TileOrigin& place, int n, int columns) {
    const auto staged = elements(buffer);
    Bits* const d = static_cast<Bits*>(params_.d) + place.batch * params_.batch_pitch;
    TW_ROLL
    for (unsigned step = 0; step < lines * line_elements / threads; ++step) {
      const unsigned i = step * threads + thread_;
      const unsigned line = i / line_elements;
      const unsigned element = i % line_elements;
      const int row = place.row + static_cast<int>(line);
      const int column = place.column + static_cast<int>(element);
      if (row < place.m_end && column < n && static_cast<int>(element) < columns) {
        store_element<Space::Global>(d + row * params_.pitch + column, staged.load(line, element));
      }
    }
  }

  const Params& params_;
  Output output_;

 protected:
  unsigned thread_;
};

}  // namespace tw
