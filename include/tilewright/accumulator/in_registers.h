// Accumulators that stay in the multiplying threads: always free, never handed over.
#pragma once

#include "tilewright/base/annotate.h"

namespace tw {

template <class Sum>
struct RegisterAccumulators {
  // What a TileOp promotes stays within its sum.
  static constexpr int promote_every = 0;
  struct Storage {};
  static TW_DEVICE void init(Storage&) {}
  static TW_DEVICE void leave() {}

  struct Scope {
    TW_DEVICE explicit Scope(Storage&) {}
    TW_DEVICE void close() {}
  };

  struct Writer {
    TW_DEVICE Writer(Scope&, Storage&) {}
    [[nodiscard]] TW_DEVICE Sum acquire() { return Sum(); }
    TW_DEVICE void drain(bool /*leads*/) {}
  };
};

}  // namespace tw
