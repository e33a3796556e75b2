// Rows of D that begin where no copy engine writes: the threads that staged a chunk store it, in
// pieces as wide as D's alignment allows, several of which are on their way together.
#pragma once

#include "tilewright/epilogue/staged_chunk.h"

namespace tw {

// `Plain` is a StagedStore, which stores where D is aligned.
template <class Plain>
class LineStore : public Plain {
  static_assert(!Plain::transposes, "The lines of a chunk are rows of its sums.");

 public:
  using typename Plain::Params;
  template <class Trace>
  TW_DEVICE LineStore(const Params& params, typename Plain::Buffers& buffers, unsigned barrier,
                      unsigned thread_in_group, Trace trace)
      : Plain(params, buffers, barrier, thread_in_group, trace), params_(params) {}

  // The chunk begins at `place` of D, which has m rows and n columns.
  template <class Buffer>
  TW_DEVICE void close(Buffer& buffer, const TileOrigin& place, int m, int n, bool gates) {
    if (params_.by_tma) return Plain::close(buffer, place, m, n, gates);
    buffer.meet();
    const unsigned ends = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(params_.d)) |
                          static_cast<unsigned>(params_.pitch | params_.batch_pitch | n) * bytes;
    if (ends % 8 == 0) {
      copy<8>(buffer, place, n, gates);
    } else if (ends % 4 == 0 || bytes == 4) {
      copy<4>(buffer, place, n, gates);
    } else {
      copy<2>(buffer, place, n, gates);
    }
  }

 private:
  static constexpr unsigned bytes = bytes_of(Plain::output);
  using Bits = ElementBits<bytes>;
  static_assert(bytes >= 2, "Pieces are of two bytes and more.");

  // All threads of the group call it; neighbours have neighbouring pieces of a line.
  template <unsigned width, class Buffer>
  TW_DEVICE void copy(const Buffer& buffer, const TileOrigin& place, int n, bool gates) const {
    using Piece = Vector<std::uint16_t, width / 2>;
    constexpr unsigned elements = width / bytes, pieces = Plain::line_elements / elements;
    constexpr unsigned lines_at_once = Plain::threads / pieces;
    constexpr unsigned steps = Plain::lines / lines_at_once, together = steps < 8 ? steps : 8;
    const unsigned element = this->thread_ % pieces * elements;
    const unsigned first = this->thread_ / pieces;
    const int column = place.column + static_cast<int>(element);
    if (column >= n || (gates && element >= Plain::line_elements / 2)) return;
    const int left = place.m_end - place.row;
    Bits* const d = static_cast<Bits*>(params_.d) + place.batch * params_.batch_pitch +
                    place.row * params_.pitch + column;
    TW_ROLL
    for (unsigned step = 0; step < steps; step += together) {
      Piece piece[together] = {};
      TW_UNROLL
      for (unsigned i = 0; i < together; ++i) {
        const Bits* const from =
            this->elements(buffer).address(first + (step + i) * lines_at_once, element);
        piece[i] = load_element<Space::Shared>(reinterpret_cast<const Piece*>(from));
      }
      TW_UNROLL
      for (unsigned i = 0; i < together; ++i) {
        const unsigned line = first + (step + i) * lines_at_once;
        if (static_cast<int>(line) >= left) continue;
        store_element<Space::Global>(reinterpret_cast<Piece*>(d + line * params_.pitch), piece[i]);
      }
    }
  }

  const Params& params_;
};

}  // namespace tw
