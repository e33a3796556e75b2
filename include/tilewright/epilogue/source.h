// C (or a residual) in chunks that another role has brought to shared memory.
#pragma once

#include "tilewright/accumulator/fragment_layout.h"
#include "tilewright/epilogue/global_source.h"
#include "tilewright/epilogue/staged_layout.h"
#include "tilewright/isa/ptx/shared_memory.h"
#include "tilewright/isa/ptx/threads.h"
#include "tilewright/isa/ptx/warp_matrix.h"
#include "tilewright/layout/shared_tile.h"

namespace tw {

// A chunk as TMA brings it, like one of the output's; its first element stands at (row, column).
// The source's elements are no wider than the output's.
template <unsigned lines, unsigned line_bytes>
struct StagedSource {
  static constexpr bool is_staged = true;
  template <unsigned bytes>
  using Tile = SharedTile<Chunk<bytes>, staged_layout(lines, bytes, line_bytes)>;  // (line,element)

  SharedAddress begin;
  int row;
  int column;

  template <ElementType type>
  TW_DEVICE bool in_pairs(const GlobalMatrix&) const {
    return true;
  }
  template <ElementType type>
  TW_DEVICE FragmentPair pair(const GlobalMatrix&, const FragmentPlace<2>& place) const {
    const SharedAddress at = address<bytes_of(type)>(place.row, place.column);
    if constexpr (bytes_of(type) == 4) {
      std::uint32_t words[2];
      isa::load_shared_8(words, at);
      return {std::bit_cast<float>(words[0]), std::bit_cast<float>(words[1])};
    } else {
      return values_of<type>(isa::load_shared_4(at));
    }
  }
  template <ElementType type, unsigned width>
  TW_DEVICE float value(const GlobalMatrix&, const FragmentPlace<width>& place, int step) const {
    const SharedAddress at = address<bytes_of(type)>(place.row, place.column + step);
    if constexpr (bytes_of(type) == 4) {
      return std::bit_cast<float>(isa::load_shared_4(at));
    } else {
      const std::uint32_t word = isa::load_shared_4(at & ~3u);
      return value_of<type>(static_cast<std::uint16_t>(at % 4 == 0 ? word : word >> 16));
    }
  }
  template <ElementType type, unsigned pairs, class PlaceOf, class Body>
  TW_DEVICE void each_pair(const PlaceOf& place_of, const Body& body) const {
    static_assert(bytes_of(type) == 2);
    each_word<pairs>(place_of,
                     [&](unsigned i, std::uint32_t word) { body(i, values_of<type>(word)); });
  }
  // All pairs of a group, of elements of two bytes, 16 bytes at a time: as the store writes them.
  template <unsigned pairs, class PlaceOf, class Body>
  TW_DEVICE void each_word(const PlaceOf& place_of, const Body& body) const {
    constexpr bool is_matrix = PlaceOf::layout == FragmentLayout::Matrix;
    const unsigned thread = place_of.thread;
    const unsigned own_row = is_matrix ? thread / 32 * 16 + thread % 16 : thread;
    const unsigned own_piece = is_matrix ? thread % 32 / 16 : 0;
    constexpr unsigned step = is_matrix ? 2 : 1;  // pieces of a row that are read together
    const auto pieces = Tile<2>(begin).template chunks<16>();
    const auto own = pieces.template steps_from<1, step>(own_row, own_piece);
    const unsigned first = static_cast<unsigned>(place_of.column) / 8;
    TW_UNROLL
    for (unsigned i = 0; i < pairs / 4; ++i) {
      const SharedAddress at = own.address(first + i * step);
      std::uint32_t words[4];
      if constexpr (is_matrix) {
        isa::ldmatrix_x4(words, at);
      } else {
        isa::load_shared_16(words, at);
      }
      TW_UNROLL
      for (unsigned pair = 0; pair < 4; ++pair) body(4 * i + pair, words[pair]);
    }
  }

 private:
  template <unsigned bytes>
  TW_DEVICE SharedAddress address(int at_row, int at_column) const {
    return Tile<bytes>(begin).address(static_cast<unsigned>(at_row - row),
                                      static_cast<unsigned>(at_column - column));
  }
};

}  // namespace tw
