// The launch of FP8 with scales of blocks and a quantised D: the
// product's with the views of its scales, and where D's scales go.
#pragma once

#include "tilewright/family/requantised/family.h"
#include "tilewright/family/requantised/kernel.h"
#include "tilewright/launch/scales.h"

namespace tw {

struct RequantisedLaunch : ScaledLaunch<RequantisedFamily> {
  template <class Kernel, class Encode>
  static Status plan(typename kernel::WarpSpecialized<Kernel>::Params& params, MatmulGrid& grid,
                     const KernelProblem& problem, const LaunchOrder& order, unsigned max_clusters,
                     const Workspace& workspace, const Encode& encode) {
    const Checked& checked = problem.checked;
    const TensorLines& scales = checked.tensor(RequantisedFamily::d_scales);
    params.epilogue.epilogue.scales = {
        static_cast<float*>(scales.data), scales.by_rows ? scales.pitch : 1,
        scales.by_rows ? 1 : scales.pitch, scales.batch_pitch,
        checked.as<tw_requantised_problem>().powers_of_two != 0 ? BlockScale::power_of_two
                                                                : BlockScale::real};
    return ScaledLaunch::plan<Kernel>(params, grid, problem, order, max_clusters, workspace,
                                      encode);
  }
};

}  // namespace tw
