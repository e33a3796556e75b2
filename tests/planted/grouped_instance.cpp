// The one grouped instance of a planted bug: as instance.cpp.
#include "tests/planted/grouped_instance.h"

#include PLANTED_HEADER
#include "src/grouped/launch_virtual.h"

namespace tw::planted {

struct Planted {
  static constexpr MatmulConfig config = {PLANTED_CONFIG};
};
using Parts = Kernel<PLANTED_PAGE, GroupedRecipe<PLANTED_RECIPE>, Planted>;

GroupedInstance described() {
  return {"planted",           Parts::Target::target.name,   Planted::config, Parts::stages,
          gathers_rows<Parts>, rows_of_scale<Parts::Scales>, nullptr,         nullptr};
}

Status simulate(const GroupedProblem& problem, const vgpu::Options& options, vgpu::Report& report) {
  return simulate_grouped<Parts>(problem, {}, options, report);
}

}  // namespace tw::planted
