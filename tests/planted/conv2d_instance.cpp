// The one conv2d instance of a planted bug: as instance.cpp.
#include "tests/planted/conv2d_instance.h"

#include PLANTED_HEADER
#include "src/conv2d/instance.h"
#include "src/conv2d/launch_virtual.h"

namespace tw::planted {

struct Planted {
  static constexpr MatmulConfig config = {PLANTED_CONFIG};
};

Conv2dDirection direction() { return direction_of(Planted::config); }

Status simulate(const Conv2dProblem& problem, const vgpu::Options& options, vgpu::Report& report) {
  return simulate_conv2d<Kernel<PLANTED_PAGE, PLANTED_RECIPE, Planted>>(problem, {}, options,
                                                                        report);
}

}  // namespace tw::planted
