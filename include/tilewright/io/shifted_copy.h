// Elements of two bytes from rows that begin anywhere, 16 bytes at a time: they are shifted into
// place when they have come.
#pragma once

#include "tilewright/io/shifted.h"
#include "tilewright/io/thread_loader.h"

namespace tw {

struct ShiftedCopy : PlainCopy {
  // Chunks of a thread whose loads are on their way together: a load takes as long as hundreds of
  // instructions. Of a stage that has no more for a thread, all are.
  static constexpr unsigned at_once = 4, most_at_once = 6;

  using Fetched = ShiftedPiece;

  // Loads what chunk() would copy, from a matrix that lies from `begin` to `end`; nothing waits for
  // the loads of a whole chunk along a row, but at the matrix's ends.
  template <class T>
  static TW_DEVICE Fetched fetch(const T* first, std::int64_t step, int count, const T* begin,
                                 const T* end) {
    static_assert(sizeof(T) == 2);
    Fetched fetched = {};
    if (count == Fetched::length && step == 1 && Fetched::is_inside(first, begin, end)) {
      fetched.fetch(first);
      return fetched;
    }
    const auto element = [&](int i) {
      return i < count ? std::uint32_t{load_element<Space::Global>(first + i * step)} : 0u;
    };
    TW_UNROLL
    for (int i = 0; i < 4; ++i) fetched.low.set(i, element(2 * i) | element(2 * i + 1) << 16);
    return fetched;
  }

  static TW_DEVICE void store(SharedAddress destination, const Fetched& fetched) {
    std::uint32_t stored[4];
    fetched.get(stored);
    isa::store_shared_16(destination, stored);
  }
};

}  // namespace tw
