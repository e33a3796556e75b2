// The one quantiser of a planted bug: as instance.cpp.
#include "tests/planted/quantise_instance.h"

#define TW_INSTANCE_WITH_VGPU 1
#include PLANTED_HEADER
#include "src/family/launch_streaming.h"
#include "tilewright/host/quantise.h"

namespace tw::planted {

struct Planted {
  static constexpr QuantiseConfig config = {PLANTED_CONFIG};
};
using Kernel = Quantise<PLANTED_PAGE, Planted>;

const Instance instance = {"planted",
                           PLANTED_PAGE::target.name,
                           cluster_of_streaming<Kernel>,
                           &QuantiseLaunch::facts<Kernel>,
                           supports_streaming<QuantiseLaunch, Kernel>,
                           nullptr,
                           nullptr,
                           simulate_streaming<QuantiseLaunch, Kernel>};

}  // namespace tw::planted
