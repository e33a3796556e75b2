// The one block-scaled instance of a planted bug: as instance.cpp.
#include "tests/planted/block_scaled_instance.h"

#define TW_INSTANCE_WITH_VGPU 1
#include PLANTED_HEADER
#include "src/family/launch_warp_specialized.h"
#include "tilewright/host/block_scaled.h"

namespace tw::planted {

struct Planted {
  static constexpr BlockScaledConfig config = {PLANTED_CONFIG};
};
using Bound = BlockScaled<PLANTED_PAGE, PLANTED_RECIPE, Planted>;

const Instance instance = {"planted",
                           PLANTED_PAGE::target.name,
                           cluster_of_warp_specialized<Bound>,
                           &BlockScaledLaunch::facts<Bound>,
                           supports_warp_specialized<BlockScaledLaunch, Bound>,
                           nullptr,
                           nullptr,
                           simulate_warp_specialized<BlockScaledLaunch, Bound>};

}  // namespace tw::planted
