// The order of work on GPUs that are several dies, each with an L2 of its own: workgroups go to the
// dies in turn, so that neighbours in time are on different dies. Here each die gets neighbours.
#pragma once

#include "tilewright/base/annotate.h"

namespace tw {

// What workgroup `index` of `count` does: of each `dies` * `chunk` works, the first `chunk` go to
// the first die, and so on. Works behind the last whole block stay where they are, so that each is
// done once.
template <int dies, int chunk>
TW_HOST_DEVICE constexpr int dealt_to_dies(int index, int count) {
  constexpr int block = dies * chunk;
  const int whole = count / block * block;
  if (index >= whole) return index;
  const int in_block = index % block;
  return index - in_block + in_block % dies * chunk + in_block / dies;
}

}  // namespace tw
