// The one kernel instance of a planted bug, compiled against headers of which one is altered.
// PLANTED_HEADER has the page PLANTED_PAGE; PLANTED_CONFIG is fields of MatmulConfig.
#include "tests/planted/instance.h"

#include PLANTED_HEADER
#include "src/matmul/launch_virtual.h"

namespace tw::planted {

struct Planted {
  static constexpr MatmulConfig config = {PLANTED_CONFIG};
};

void adapt(MatmulShape& shape) {
  shape.a_major = Planted::config.tiling.a_major;
  shape.b_major = Planted::config.tiling.b_major;
  shape.epilogue.column_bias = Planted::config.tiling.exchanged != 0;
}

Status simulate(const MatmulProblem& problem, int parts, const vgpu::Options& options,
                vgpu::Report& report) {
  const MatmulOrder order = {.split_k = parts};
  return simulate_matmul<Matmul<PLANTED_PAGE, Planted>>(problem, order, {}, options, report);
}

}  // namespace tw::planted
