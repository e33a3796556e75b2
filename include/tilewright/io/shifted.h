// Threads read elements of two bytes 16 bytes at a time: a piece of eight elements lies in two
// aligned reads, wherever it begins, and is shifted out of them.
#pragma once

#include <cstdint>

#include "tilewright/base/annotate.h"
#include "tilewright/layout/access.h"
#include "tilewright/layout/element.h"

namespace tw {

struct ShiftedPiece {
  using Half = std::uint16_t;
  using Words = Vector<std::uint32_t, 4>;
  static_assert(sizeof(Words) == 16 && alignof(Words) == 16);
  static constexpr int length = 8;

  Words low, high;
  unsigned shift;  // halves of `low` before the first

  static TW_DEVICE unsigned shift_of(const Half* from) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(from) % 16 / 2);
  }
  // Tells whether both reads stay between the first and the last byte that may be read.
  static TW_DEVICE bool is_inside(const Half* from, const Half* begin, const Half* end) {
    const unsigned shift = shift_of(from);
    return from - shift >= begin && (shift == 0 || end - (from - shift) >= 2 * length);
  }
  // Nothing waits for the loads: neither depends on the other. Without a shift there is no second.
  TW_DEVICE void fetch(const Half* from) {
    shift = shift_of(from);
    low = load_element<Space::Global>(reinterpret_cast<const Words*>(from - shift));
    high = {};
    if (shift != 0) {
      high = load_element<Space::Global>(reinterpret_cast<const Words*>(from - shift + length));
    }
  }
  // The piece, in its place: by words first, then by half a word.
  TW_DEVICE void get(std::uint32_t (&result)[4]) const {
    std::uint32_t words[8];
    TW_UNROLL
    for (int i = 0; i < 4; ++i) {
      words[i] = low.get(i);
      words[i + 4] = high.get(i);
    }
    TW_UNROLL
    for (int i = 0; i < 6; ++i) words[i] = (shift & 4) != 0 ? words[i + 2] : words[i];
    TW_UNROLL
    for (int i = 0; i < 5; ++i) words[i] = (shift & 2) != 0 ? words[i + 1] : words[i];
    TW_UNROLL
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t both = words[i] | std::uint64_t{words[i + 1]} << 32;
      result[i] = static_cast<std::uint32_t>(both >> 16 * (shift & 1));
    }
  }
};

}  // namespace tw
