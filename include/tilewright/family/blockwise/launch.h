// The launch of FP8 with scales of blocks: the product's plan with the views of its scales.
#pragma once

#include "tilewright/family/blockwise/family.h"
#include "tilewright/family/blockwise/kernel.h"
#include "tilewright/launch/scales.h"

namespace tw {

struct BlockwiseLaunch : ScaledLaunch<BlockwiseFamily> {
  template <class Kernel, class Encode>
  static Status plan(typename kernel::WarpSpecialized<Kernel>::Params& params, MatmulGrid& grid,
                     const KernelProblem& problem, const LaunchOrder& order, unsigned max_clusters,
                     const Workspace& workspace, const Encode& encode) {
    if (Kernel::Recipe::takes_exponents) {
      Status found = check_operands<Kernel>(problem.product);
      found.unless(problem.checked.as<BlockwiseFamily::Problem>().powers_of_two != 0,
                   [] { return "This kernel takes scales that are powers of two: say so."; });
      if (!found.is_good()) return found;
    }
    return ScaledLaunch::plan<Kernel>(params, grid, problem, order, max_clusters, workspace,
                                      encode);
  }
};

}  // namespace tw
