// The one quantiser of a planted bug: as instance.cpp.
#include "tests/planted/quantise_instance.h"

#include PLANTED_HEADER
#include "src/quantise/launch_virtual.h"

namespace tw::planted {

struct Planted {
  static constexpr unsigned scale_rows = PLANTED_CONFIG;
};

const unsigned scale_rows = Planted::scale_rows;

Status simulate(const QuantiseProblem& problem, const vgpu::Options& options,
                vgpu::Report& report) {
  return simulate_quantise<Quantise<PLANTED_PAGE, Planted>, Planted::scale_rows>(problem, options,
                                                                                 report);
}

}  // namespace tw::planted
