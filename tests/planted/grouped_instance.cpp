// The one grouped instance of a planted bug: as instance.cpp.
#include "tests/planted/grouped_instance.h"

#define TW_INSTANCE_WITH_VGPU 1
#include PLANTED_HEADER
#include "src/family/launch_warp_specialized.h"
#include "tilewright/host/grouped.h"

namespace tw::planted {

struct Planted {
  static constexpr GroupedConfig config = {PLANTED_CONFIG};
};
using Bound = Grouped<PLANTED_PAGE, PLANTED_RECIPE, Planted>;

const Instance instance = {"planted",
                           PLANTED_PAGE::target.name,
                           cluster_of_warp_specialized<Bound>,
                           &GroupedLaunch::facts<Bound>,
                           supports_warp_specialized<GroupedLaunch, Bound>,
                           nullptr,
                           nullptr,
                           simulate_warp_specialized<GroupedLaunch, Bound>};

}  // namespace tw::planted
