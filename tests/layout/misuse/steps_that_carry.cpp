// must not compile: steps_from: the way from one element to the others is no constant
#include "tilewright/layout/shared_tile.h"
#include "tilewright/layout/text.h"

using namespace tw;

// Four rows further the swizzle turns otherwise.
auto wrong(SharedTile<std::uint16_t, with_swizzle(row_major(64, 64), {3, 3, 3})> tile) {
  return tile.steps_from<0, 4>(1u, 0u).address(4);
}
