// The one block-scaled instance of a planted bug: as instance.cpp.
#include "tests/planted/block_scaled_instance.h"

#include PLANTED_HEADER
#include "tilewright/host/block_scaled.h"
#include "vgpu/tensor_map.h"

namespace tw::planted {

struct Planted {
  static constexpr MatmulConfig config = {PLANTED_CONFIG};
};
using Parts = Kernel<PLANTED_PAGE, PLANTED_RECIPE, Planted>;

MatmulConfig planted_config() { return Planted::config; }
ScaleType planted_scales() { return Parts::Scales::type; }

Status simulate(const BlockScaledProblem& problem, const std::vector<vgpu::GlobalRange>& touched,
                const vgpu::Options& options, vgpu::Report& report) {
  using Kernel = kernel::WarpSpecialized<Parts>;
  typename Kernel::Params params;
  MatmulGrid grid = {};
  const unsigned max_clusters = options.sm_count / Parts::tiling.cluster.size();
  Status status = plan<Parts>(params, grid, problem, {}, max_clusters, {}, encode_for_virtual);
  if (!status.is_good()) return status;
  report = vgpu::run({grid.ctas, grid.cluster_size, grid.threads, grid.shared_bytes,
                      [&params] { Kernel::run(params); }},
                     touched, options);
  return status;
}

}  // namespace tw::planted
