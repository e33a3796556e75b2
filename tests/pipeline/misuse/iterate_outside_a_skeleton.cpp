// Must compile as it is, and must not compile with TW_MISUSE: only skeletons can make a Key.
#include "tilewright/bind/recipe.h"

int count_k_tiles(const tw::WorkTile& tile) {
#if defined(TW_MISUSE)
  int count = 0;
  for (int k : tile.k_tiles(tw::kernel::Key())) count += k;
  return count;
#else
  return tile.num_k_tiles();
#endif
}
