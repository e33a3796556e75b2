// The order of work on GPUs that are several dies, each with an L2 of its own: workgroups go to the
// dies in turn, so that neighbours in time are on different dies. Here each die gets neighbours.
#pragma once

#include "tilewright/base/annotate.h"
#include "tilewright/isa/grid.h"
#include "tilewright/schedule/work_tile.h"

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

// A map of which each die gets neighbours. Works that may not be there stay where they are: only
// the device knows how many tiles groups have, but of some it is certain.
template <class Map, int dies, int chunk>
class DealtToDies : public Map {
 public:
  using typename Map::Params;
  TW_DEVICE explicit DealtToDies(const Params& params) : DealtToDies(params, isa::cta_count()) {}
  TW_DEVICE DealtToDies(const Params& params, unsigned workgroups)
      : Map(params), certain_(certain(workgroups)) {}
  TW_DEVICE bool has(int index) const { return Map::has(dealt(index)); }
  TW_DEVICE WorkTile tile(int index) const { return Map::tile(dealt(index)); }

 private:
  // A map that counts upwards needs rounds of whole turns over the dies: then the works of a
  // workgroup come in their order.
  TW_DEVICE int certain([[maybe_unused]] unsigned workgroups) const {
    if constexpr (requires { requires Map::counts_upwards; }) {
      if (workgroups % unsigned{dies} != 0) return 0;
    }
    return Map::certain();
  }
  TW_DEVICE int dealt(int index) const { return dealt_to_dies<dies, chunk>(index, certain_); }

  int certain_;
};

}  // namespace tw
