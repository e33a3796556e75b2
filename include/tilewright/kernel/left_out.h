// What stands in a kernel for a part that it does without: turns, parts of sums, a C that a role
// brings.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/epilogue/global_source.h"
#include "tilewright/schedule/work_tile.h"

namespace tw {

// One group, or groups that share every tile: it is always everyone's turn.
struct NoTurns {
  struct Barriers {};
  struct Token {
    TW_DEVICE ~Token() {}
  };
  static TW_DEVICE void init(Barriers&) {}
  TW_DEVICE NoTurns(Barriers&, unsigned /*group*/, unsigned /*thread_in_group*/) {}
  [[nodiscard]] TW_DEVICE Token take() { return {}; }
};

// Every sum is whole.
struct NoReduction {
  static constexpr bool in_parts = false;
  static constexpr bool in_shares = false;
  struct Params {};
  struct Storage {};
  static TW_DEVICE void init(Storage&) {}
  TW_DEVICE NoReduction(const Params&, Storage&, unsigned /*group*/, unsigned /*thread*/) {}
  TW_DEVICE void drain() {}
  template <class Sum>
  TW_DEVICE const Sum& collect(const Sum& sum, const WorkTile&) const {
    return sum;
  }
};

// Nobody brings C (or a residual): the epilogue reads it from global memory.
struct DirectSources {
  static constexpr bool has_role = false;
  struct Params {};
  struct Storage {};
  static TW_DEVICE void init(Storage&) {}
  struct Reader {
    TW_DEVICE Reader(const Params&, Storage&, unsigned /*thread*/) {}
    TW_DEVICE GlobalSource next(int, int) { return {}; }
  };
};

// Accumulators that stay in the multiplying threads: always free, never handed over.
template <class Sum>
struct RegisterAccumulators {
  // The TileOp promotes within its sum.
  static constexpr int promote_every = 0;
  struct Storage {};
  static TW_DEVICE void init(Storage&) {}
  static TW_DEVICE void leave() {}

  struct Scope {
    TW_DEVICE explicit Scope(Storage&) {}
  };

  struct Writer {
    TW_DEVICE Writer(Scope&, Storage&) {}
    [[nodiscard]] TW_DEVICE Sum acquire() { return Sum(); }
    TW_DEVICE void drain(bool /*leads*/) {}
  };
};

}  // namespace tw
