// How threads share the rows of sums: what softmax needs to know of a fragment.
#pragma once

#include "tilewright/base/annotate.h"

namespace tw {

// Four lanes share two rows that are `apart`: a lane, and those that stand `step`, 2 `step` and
// 3 `step` behind it. Of each row `run` values follow each other, then as many of the other.
template <unsigned run_, unsigned step_, unsigned lanes_, int apart_>
struct LanesOfRows {
  static constexpr unsigned run = run_;
  static constexpr unsigned step = step_;
  static constexpr unsigned lanes = lanes_;
  static constexpr int apart = apart_;

  // One of the four.
  static TW_DEVICE bool speaks(unsigned thread) { return thread / step % 4 == 0; }
  // The thread's value i of one of its rows, the upper (0) or the lower one.
  static constexpr unsigned value_of(unsigned half, unsigned i) {
    return i / run * 2 * run + half * run + i % run;
  }
};

// Sums of warps; others say how theirs are.
template <class Sum>
struct ThreadRows : LanesOfRows<2, 1, 32, 8> {};

}  // namespace tw
