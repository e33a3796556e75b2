// The launch of FP8 with scales of blocks: the product's plan with the views of its scales.
#pragma once

#include "tilewright/family/blockwise/family.h"
#include "tilewright/family/blockwise/kernel.h"
#include "tilewright/launch/scales.h"

namespace tw {

template <class Family>
struct ScaledLaunch {
  template <class Parts>
  static constexpr ProductFacts facts = facts_of<Parts>;

  static MatmulProblem product(const Checked& checked) { return checked.product(); }

  template <class Parts, class Encode>
  static Status plan(typename kernel::WarpSpecialized<Parts>::Params& params, MatmulGrid& grid,
                     const Checked& checked, const MatmulOrder& order, unsigned max_clusters,
                     const Workspace& workspace, const Encode& encode) {
    const MatmulProblem product = checked.product();
    Status found = check_operands<Parts>(product);
    found.add(take_scales<Family, Parts>(params.own, checked, product));
    if (!found.is_good()) return found;
    return tw::plan<Parts>(params, grid, product, order, max_clusters, workspace, encode);
  }
};

struct BlockwiseLaunch : ScaledLaunch<BlockwiseFamily> {
  // family block_scaled: begin
  template <class Parts, class Encode>
  static Status plan(typename kernel::WarpSpecialized<Parts>::Params& params, MatmulGrid& grid,
                     const Checked& checked, const MatmulOrder& order, unsigned max_clusters,
                     const Workspace& workspace, const Encode& encode) {
    if constexpr (requires { Parts::Scales::are_powers_of_two; }) {
      Status found = check_operands<Parts>(checked.product());
      found.unless(checked.as<BlockwiseFamily::Problem>().powers_of_two != 0,
                   [] { return "This kernel takes scales that are powers of two: say so."; });
      if (!found.is_good()) return found;
    }
    return ScaledLaunch::plan<Parts>(params, grid, checked, order, max_clusters, workspace, encode);
  }
  // family block_scaled: end
};

}  // namespace tw
