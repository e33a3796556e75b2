// A launch is matmul's, and the shift.
#pragma once

#include "tilewright/family/rotated/family.h"
#include "tilewright/family/rotated/kernel.h"
#include "tilewright/launch/checked.h"
#include "tilewright/launch/product.h"
#include "tilewright/launch/product_facts.h"

namespace tw {

struct RotatedLaunch {
  template <class Parts>
  static constexpr ProductFacts facts = facts_of<Parts>;
  static MatmulProblem product(const Checked& problem) { return problem.product(); }
  template <class Parts, class Encode>
  static Status plan(typename kernel::WarpSpecialized<Parts>::Params& params, MatmulGrid& grid,
                     const Checked& problem, const LaunchOrder& order, unsigned max_clusters,
                     const Workspace& workspace, const Encode& encode) {
    const auto& rotated = problem.as<tw_rotated_problem>();
    params.loader.shift = static_cast<int>(rotated.shift % rotated.matmul.m);
    return tw::plan<Parts>(params, grid, product(problem), order, max_clusters, workspace, encode);
  }
};

}  // namespace tw
