// The one kernel instance of a planted bug, compiled against headers of which one is altered.
#include "tests/planted/instance.h"

#include "src/matmul/launch_virtual.h"
#include "tilewright/arch/sm90.h"

namespace tw::planted {

struct Planted {
  static constexpr MatmulConfig config = {PLANTED_CONFIG};
};

Status simulate(const MatmulProblem& problem, const vgpu::Options& options, vgpu::Report& report) {
  return simulate_matmul<Matmul<Sm90, Planted>>(problem, {}, {}, options, report);
}

}  // namespace tw::planted
