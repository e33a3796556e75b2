// A launch is matmul's, and the shift.
#pragma once

#include "tilewright/family/rotated/family.h"
#include "tilewright/family/rotated/kernel.h"
#include "tilewright/launch/checked.h"
#include "tilewright/launch/product.h"
#include "tilewright/launch/product_facts.h"

namespace tw {

struct RotatedLaunch {
  template <class Kernel>
  static constexpr ProductFacts facts = facts_of<Kernel>;
  static MatmulProblem product(const Checked& problem) { return problem.product(); }
  template <class Kernel, class Encode>
  static Status plan(typename kernel::WarpSpecialized<Kernel>::Params& params, MatmulGrid& grid,
                     const Checked& problem, const LaunchOrder& order, unsigned max_clusters,
                     const Workspace& workspace, const Encode& encode) {
    const auto& rotated = problem.as<tw_rotated_problem>();
    params.loader.shift = static_cast<int>(rotated.shift % rotated.matmul.m);
    return tw::plan<Kernel>(params, grid, product(problem), order, max_clusters, workspace, encode);
  }
};

}  // namespace tw
