// The one instance of a planted bug of FP8 with scales of blocks: as instance.cpp.
#include "tests/planted/blockwise_instance.h"

#define TW_INSTANCE_WITH_VGPU 1
#include PLANTED_HEADER
#include "src/family/launch_warp_specialized.h"
#include "tilewright/host/blockwise.h"

namespace tw::planted {

struct Planted {
  static constexpr BlockwiseConfig config = {PLANTED_CONFIG};
};
using Bound = Blockwise<PLANTED_PAGE, BlockwiseRecipe<128>, Planted>;

const Instance instance = {"planted",
                           PLANTED_PAGE::target.name,
                           cluster_of_warp_specialized<Bound>,
                           &BlockwiseLaunch::facts<Bound>,
                           supports_warp_specialized<BlockwiseLaunch, Bound>,
                           nullptr,
                           nullptr,
                           simulate_warp_specialized<BlockwiseLaunch, Bound>};

}  // namespace tw::planted
