// The one blockwise FP8 instance of a planted bug: as instance.cpp.
#include "tests/planted/blockwise_instance.h"

#include PLANTED_HEADER
#include "src/blockwise_fp8/launch_virtual.h"

namespace tw::planted {

struct Planted {
  static constexpr MatmulConfig config = {PLANTED_CONFIG};
  static constexpr unsigned b_scale_rows = 128;
};

Status simulate(const BlockwiseProblem& problem, const vgpu::Options& options,
                vgpu::Report& report) {
  return simulate_blockwise<Kernel<PLANTED_PAGE, BlockwiseRecipe<128>, Planted>, 128>(
      problem, {}, options, report);
}

}  // namespace tw::planted
