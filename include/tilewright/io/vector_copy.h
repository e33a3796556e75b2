// Chunks of 16 bytes through registers: by one load where rows are aligned to it, else element by
// element. Any stride, any alignment.
#pragma once

#include "tilewright/io/thread_loader.h"
#include "tilewright/layout/element.h"

namespace tw {

struct VectorCopy : PlainCopy {
  // Chunks of a thread whose loads are on their way together.
  static constexpr unsigned at_once = 4;

  struct Fetched {
    std::uint32_t words[4];
  };

  template <class T>
  static TW_DEVICE Fetched fetch(const T* first, std::int64_t step, int count) {
    constexpr int elements = 16 / sizeof(T);
    Fetched fetched = {};
    if (count == elements && step == 1 && reinterpret_cast<std::uintptr_t>(first) % 16 == 0) {
      const auto words =
          load_element<Space::Global>(reinterpret_cast<const Vector<std::uint32_t, 4>*>(first));
      TW_UNROLL
      for (unsigned i = 0; i < 4; ++i) fetched.words[i] = words.get(i);
      return fetched;
    }
    TW_UNROLL
    for (int i = 0; i < elements; ++i) {
      if (i < count) {
        fetched.words[i * sizeof(T) / 4] |=
            std::uint32_t{load_element<Space::Global>(first + i * step)} << i * sizeof(T) % 4 * 8;
      }
    }
    return fetched;
  }

  static TW_DEVICE void store(SharedAddress destination, const Fetched& fetched) {
    isa::store_shared_16(destination, fetched.words);
  }
};

}  // namespace tw
