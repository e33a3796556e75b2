// A tile that a thread keeps in its registers. Its loops must be unrolled, so that every index is a
// constant when the compiler looks at it.
#pragma once

#include "tilewright/layout/tile_tensor.h"

namespace tw {

template <class T, Layout layout>
struct RegisterTile {
  static_assert(!PackedElement<T>, "Registers hold whole elements or vectors of packed ones.");
  T elements[static_cast<unsigned>(cosize(layout))];

  TW_HOST_DEVICE constexpr auto tensor() {
    return TileTensor<T, Space::Register, layout>(elements);
  }
};

}  // namespace tw
