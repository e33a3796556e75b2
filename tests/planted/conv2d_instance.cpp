// The one conv2d instance of a planted bug: as instance.cpp.
#include "tests/planted/conv2d_instance.h"

#include PLANTED_HEADER
#include "src/family/make_instance.h"
#include "tilewright/host/conv2d.h"

namespace tw::planted {

struct Planted {
  static constexpr Conv2dConfig config = {PLANTED_CONFIG};
};

template <class Bound>
Instance planted() {
  if constexpr (DepthwiseKernel<Bound>) {
    return streaming_instance<Conv2dLaunch, Bound>("planted");
  } else {
    return warp_specialized_instance<Conv2dLaunch, Bound>("planted");
  }
}
const Instance instance = planted<Conv2d<PLANTED_PAGE, PLANTED_RECIPE, Planted>>();

}  // namespace tw::planted
