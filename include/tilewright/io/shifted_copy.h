// Elements of two bytes from rows that begin anywhere: a chunk of eight is three words and two
// elements, which are shifted into place when they have come.
#pragma once

#include "tilewright/io/thread_loader.h"

namespace tw {

struct ShiftedCopy : PlainCopy {
  // Chunks of a thread whose loads are on their way together: a load takes as long as hundreds of
  // instructions.
  static constexpr unsigned at_once = 4;

  struct Fetched {
    std::uint32_t words[3];
    std::uint32_t first, last;  // elements; `first` is the sixth where words begin with the chunk
    bool is_shifted;            // words begin with the chunk's second element
  };

  // As chunk(); nothing waits for the loads of a whole chunk along a row.
  template <class T>
  static TW_DEVICE Fetched fetch(const T* first, std::int64_t step, int count) {
    static_assert(sizeof(T) == 2);
    Fetched fetched = {};
    if (count == 8 && step == 1) {
      fetched.is_shifted = reinterpret_cast<std::uintptr_t>(first) % 4 != 0;
      const auto* words = reinterpret_cast<const std::uint32_t*>(first + fetched.is_shifted);
      TW_UNROLL
      for (int i = 0; i < 3; ++i) fetched.words[i] = load_element<Space::Global>(words + i);
      fetched.first = load_element<Space::Global>(first + (fetched.is_shifted ? 0 : 6));
      fetched.last = load_element<Space::Global>(first + 7);
      return fetched;
    }
    const auto element = [&](int i) {
      return i < count ? std::uint32_t{load_element<Space::Global>(first + i * step)} : 0u;
    };
    TW_UNROLL
    for (int i = 0; i < 3; ++i) fetched.words[i] = element(2 * i) | element(2 * i + 1) << 16;
    fetched.first = element(6);
    fetched.last = element(7);
    return fetched;
  }

  static TW_DEVICE void store(SharedAddress destination, const Fetched& fetched) {
    const std::uint32_t* words = fetched.words;
    const bool is_shifted = fetched.is_shifted;
    const std::uint32_t stored[4] = {
        is_shifted ? fetched.first | words[0] << 16 : words[0],
        is_shifted ? words[0] >> 16 | words[1] << 16 : words[1],
        is_shifted ? words[1] >> 16 | words[2] << 16 : words[2],
        (is_shifted ? words[2] >> 16 : fetched.first) | fetched.last << 16,
    };
    isa::store_shared_16(destination, stored);
  }
};

}  // namespace tw
