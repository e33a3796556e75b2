// Where nobody waits for a turn.
#pragma once

#include "tilewright/base/annotate.h"

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

}  // namespace tw
